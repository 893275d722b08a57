"""Programs that train: compile, fit, evaluate, predict, callbacks, data sets, subclasses. What they print is compared with what TensorFlow
2.15.1 prints (keras_fit.txt, made by tests/golden/keras_fit.py)."""
import contextlib
import io
import os
import re
import tempfile

import numpy as np


def section(name):
    print('==', name)


def run(tf):
    """Prints a section for each of them."""
    K = tf.keras
    x = np.random.RandomState(0).rand(50, 3)
    y = (x.sum(1) > 1.5).astype(np.int64)

    def seed():
        K.backend.clear_session()
        K.utils.set_random_seed(3)

    def net(last=2, act=None):
        return K.Sequential([K.layers.Dense(8, activation='relu', input_shape=(3,)), K.layers.Dense(last, activation=act)])

    def r(h):
        h = getattr(h, 'history', h)
        return {k: [round(float(v), 5) for v in vs] for k, vs in h.items()}

    section('sparse')
    seed()
    m = net(2, 'softmax')
    m.compile(K.optimizers.Nadam(), K.losses.SparseCategoricalCrossentropy(), metrics=['accuracy'])
    print(r(m.fit(x, y, epochs=3, batch_size=16, verbose=0, validation_data=(x[:20], y[:20]))))

    section('binary')
    seed()
    m = net(1, 'sigmoid')
    m.compile('Nadam', 'binary_crossentropy', metrics=['accuracy', 'AUC', 'mse'])
    print(r(m.fit(x, y, epochs=3, verbose=0, validation_split=0.2, class_weight={0: 1.0, 1: 3.0})))
    print(m.metrics_names)

    section('weights')
    seed()
    m = net(1, 'sigmoid')
    m.compile('sgd', 'binary_crossentropy', metrics=['accuracy'], weighted_metrics=['accuracy'])
    print(r(m.fit(x, y, epochs=2, verbose=0, sample_weight=np.linspace(0, 1, 50))))
    print([round(v, 5) for v in m.evaluate(x, y, verbose=0, sample_weight=np.linspace(0, 1, 50))])

    section('early')
    seed()
    m = net(1)
    m.compile(K.optimizers.SGD(1.0), 'mae')
    e = K.callbacks.EarlyStopping(monitor='loss', patience=2, verbose=1, restore_best_weights=True)
    h = m.fit(x, y.astype('float32'), epochs=20, verbose=0, callbacks=[e])
    print(r(h), e.stopped_epoch, round(e.best, 5), e.best_epoch, e.wait, e.monitor)

    section('plateau')
    seed()
    m = net(1)
    m.compile(K.optimizers.SGD(1.0), 'mae')
    h = m.fit(x, y.astype('float32'), epochs=6, verbose=0, callbacks=[K.callbacks.ReduceLROnPlateau(monitor='loss', patience=1,
            factor=0.3, verbose=1)])
    print(r(h))
    print(round(float(m.optimizer.lr), 6))

    section('sched')
    seed()
    m = net(1)
    m.compile('sgd', 'mse')
    h = m.fit(x, y.astype('float32'), epochs=3, verbose=0, callbacks=[K.callbacks.LearningRateScheduler(lambda e, lr: lr * 0.5,
            verbose=1)])
    print(r(h))

    section('csv')
    d = tempfile.mkdtemp()
    p = os.path.join(d, 'a.csv')
    seed()
    m = net(1)
    m.compile('sgd', 'mse', metrics=['mae'])
    m.fit(x, y.astype('float32'), epochs=2, verbose=0, callbacks=[K.callbacks.CSVLogger(p)])
    print([[c if not c[0].isdigit() or i == 0 else round(float(c), 5) for i,
            c in enumerate(l.split(','))] for l in open(p).read().split('\n')[:-1]])
    m.fit(x, y.astype('float32'), epochs=1, verbose=0, callbacks=[K.callbacks.CSVLogger(p, append=True, separator=';')])
    print(open(p).read().count('\n'))

    section('ckpt')
    seed()
    m = net(1)
    m.compile('sgd', 'mse')
    cb = K.callbacks.ModelCheckpoint(d + '/w-{epoch:04d}-{loss:.2f}.ckpt', save_weights_only=True, verbose=1, monitor='loss',
            save_best_only=True)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        m.fit(x, y.astype('float32'), epochs=2, verbose=0, callbacks=[cb])
    print(out.getvalue().replace(d, 'D'))
    print(sorted((f for f in os.listdir(d) if 'ckpt' in f)))

    section('period')
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        m.fit(x, y.astype('float32'), epochs=5, verbose=0, callbacks=[K.callbacks.ModelCheckpoint(d + '/p/cp-{epoch:04d}.ckpt',
                save_weights_only=True, verbose=1, period=2), K.callbacks.ModelCheckpoint(d + '/q/cp-{epoch}-{batch}.ckpt',
                save_weights_only=True, verbose=1, save_freq=3)])
    print(out.getvalue().replace(d, 'D'))
    print(os.path.basename(tf.train.latest_checkpoint(d + '/p')))
    m2 = net(1)
    m2.load_weights(tf.train.latest_checkpoint(d + '/p'))
    print(np.round(m2.predict(x[:2], verbose=0).ravel(), 4))

    section('nan')
    seed()
    m = net(1)
    m.compile(K.optimizers.SGD(1e+30), 'mse')
    h = m.fit(x, y.astype('float32'), epochs=5, verbose=0, batch_size=10, callbacks=[K.callbacks.TerminateOnNaN()])
    print(len(h.epoch))

    section('order')
    log = []

    class C(K.callbacks.Callback):
        pass
    for n in ['on_train_begin', 'on_train_end', 'on_test_begin', 'on_test_end', 'on_predict_begin', 'on_predict_end']:
        setattr(C, n, (lambda n: lambda self, logs=None: log.append((n, sorted(logs or {}))))(n))
    for n in ['on_epoch_begin', 'on_epoch_end', 'on_train_batch_begin', 'on_train_batch_end', 'on_test_batch_begin',
            'on_test_batch_end', 'on_predict_batch_begin', 'on_predict_batch_end']:
        setattr(C, n, (lambda n: lambda self, i, logs=None: log.append((n, i, sorted(logs or {}))))(n))
    seed()
    m = net(1)
    m.compile('sgd', 'mse', metrics=['mae'])
    m.fit(x, y, epochs=1, batch_size=25, verbose=0, validation_data=(x, y), callbacks=[C()])
    m.evaluate(x, y, verbose=0, callbacks=[C()])
    m.predict(x, verbose=0, callbacks=[C()])
    for l in log:
        print(l)

    section('lambda')
    seed()
    out = []
    m.fit(x, y, epochs=2, verbose=0, callbacks=[K.callbacks.LambdaCallback(on_epoch_end=lambda e, l: out.append((e,
            sorted(l))), on_batch_end=lambda b, logs: out.append(b))])
    print(out)

    section('dataset')
    seed()
    m = net(1)
    m.compile('sgd', 'mse')
    ds = tf.data.Dataset.from_tensor_slices((x.astype('float32'), y)).batch(16)
    print(r(m.fit(ds, epochs=2, verbose=0, validation_data=ds)))
    print(round(m.evaluate(ds, verbose=0), 5), m.predict(ds, verbose=0).shape, r(m.fit(ds.repeat(), epochs=2,
            steps_per_epoch=3, verbose=0)))

    section('shuffled')
    seed()
    m = net(1)
    m.compile('sgd', 'mse')
    print(r(m.fit(ds.unbatch().shuffle(20, seed=5).batch(8), epochs=3, verbose=0)))

    section('gen')
    seed()
    m = net(1)
    m.compile('sgd', 'mse')

    def gen():
        while True:
            for i in range(0, 48, 16):
                yield (x[i:i + 16], y[i:i + 16])
    print(r(m.fit(gen(), epochs=2, steps_per_epoch=3, verbose=0)))

    class S(K.utils.Sequence):

        def __len__(self):
            return 3

        def __getitem__(self, i):
            return (x[i * 16:i * 16 + 16], y[i * 16:i * 16 + 16])
    print(r(m.fit(S(), epochs=2, verbose=0, shuffle=False)), round(m.evaluate(S(), verbose=0), 5), m.predict(S(),
            verbose=0).shape)

    section('subclass')

    class M(K.Model):

        def __init__(self):
            super().__init__()
            self.a = K.layers.Dense(4, activation='relu')
            self.b = K.layers.Dense(1)
            self.d = K.layers.Dropout(0.5)
            self.n = 0

        def call(self, x, training=None):
            self.n += 1
            return self.b(self.d(self.a(x), training=training))
    seed()
    m = M()
    m.compile('adam', 'mse', metrics=['mae'])
    print(r(m.fit(x, y, epochs=3, verbose=0, batch_size=16)))

    class T(M):

        def train_step(self, data):
            x, y = data
            with tf.GradientTape() as t:
                p = self(x, training=True)
                loss = self.compiled_loss(y, p)
            g = t.gradient(loss, self.trainable_variables)
            self.optimizer.apply_gradients(zip(g, self.trainable_variables))
            self.compiled_metrics.update_state(y, p)
            return {m.name: m.result() for m in self.metrics}
    seed()
    m = T()
    m.compile('adam', 'mse', metrics=['mae'])
    print(r(m.fit(x, y, epochs=3, verbose=0, batch_size=16, validation_split=0.1)))

    class U(M):

        def __init__(self):
            super().__init__()
            self.lt = K.metrics.Mean(name='loss')

        def train_step(self, data):
            x, y = data
            with tf.GradientTape() as t:
                loss = tf.reduce_mean((self(x, training=True)[:, 0] - tf.cast(y, tf.float32)) ** 2)
            g = t.gradient(loss, self.trainable_variables)
            self.optimizer.apply_gradients(zip(g, self.trainable_variables))
            self.lt.update_state(loss)
            return {'loss': self.lt.result()}

        @property
        def metrics(self):
            return [self.lt]
    seed()
    m = U()
    m.compile(optimizer='adam')
    print(r(m.fit(x, y, epochs=2, verbose=0)))

    section('function')
    seed()
    m = net(1)
    m.compile('sgd', loss=lambda a, b: tf.reduce_mean(tf.abs(tf.cast(a, tf.float32) - b), axis=-1),
            metrics=[K.losses.mean_squared_error, K.metrics.MeanAbsoluteError(name='q')])
    print(r(m.fit(x, y, epochs=2, verbose=0)))
    print(m.metrics_names)

    def my_metric(a, b):
        return tf.reduce_max(b)
    seed()
    m = net(1)
    m.compile('sgd', 'mse', metrics=[my_metric], run_eagerly=True)
    print(r(m.fit(x, y, epochs=2, verbose=0, steps_per_epoch=1)))

    section('batch')
    seed()
    m = net(2)
    m.compile('sgd', K.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=['accuracy'])
    print(np.round(m.train_on_batch(x, y), 5), np.round(m.test_on_batch(x, y, reset_metrics=False), 5), m.metrics_names)
    m.reset_metrics()
    m.optimizer.lr.assign(m.optimizer.lr / 2.0)
    print(round(float(m.optimizer.lr), 6))

    section('freq')
    print({k: len(v) for k, v in m.fit(x, y, epochs=5, verbose=0, validation_data=(x, y), validation_freq=2,
            initial_epoch=1).history.items()}, {k: len(v) for k, v in m.fit(x, y, epochs=5, verbose=0, validation_data=(x, y),
            validation_freq=[1, 5]).history.items()})

    section('spe')
    seed()
    m = net(1)
    m.compile('sgd', 'mse', steps_per_execution=2)
    log = []
    print(r(m.fit(x, y, epochs=2, verbose=0, batch_size=10, callbacks=[K.callbacks.LambdaCallback(on_batch_end=lambda b,
            logs: log.append(b))])), log)

    section('text')
    seed()
    m = net(1)
    m.compile('sgd', 'mse', metrics=['mae'])
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        m.fit(x, y, epochs=2, validation_split=0.2)
        m.fit(x, y, epochs=2, verbose=2)
        m.evaluate(x, y, verbose=2)
        m.predict(x)
        m.fit(ds.filter(lambda a, b: True).map(lambda a, b: (a, b)), epochs=2)
    t = re.sub('\\x08', '', out.getvalue())
    t = re.sub('\\d+[mu]?s(/\\w+)?', 'T', t)
    t = re.sub('ETA: [T:\\d]+', 'ETA', t)
    print([l.split('\r')[-1] for l in t.split('\n')])

    section('multi')

    class D(K.Model):

        def __init__(self):
            super().__init__()
            self.a = K.layers.Dense(1)
            self.b = K.layers.Dense(2, activation='softmax')

        def call(self, x):
            return {'p': self.a(x['u']), 'q': self.b(x['v'])}
    seed()
    m = D()
    m.compile('sgd', loss={'p': 'mse', 'q': 'sparse_categorical_crossentropy'}, metrics={'q': ['accuracy']},
            loss_weights={'p': 1.0, 'q': 0.5})
    print(r(m.fit({'u': x, 'v': x}, {'p': y, 'q': y}, epochs=2, verbose=0)))
    print(m.metrics_names, sorted(m.predict({'u': x, 'v': x}, verbose=0)))

    class L(K.Model):

        def __init__(self):
            super().__init__()
            self.a = K.layers.Dense(1)
            self.b = K.layers.Dense(1)

        def call(self, x):
            return (self.a(x[0]), self.b(x[1]))
    seed()
    m = L()
    m.compile('sgd', ['mse', 'mae'], metrics=['mse'])
    print(r(m.fit([x, x], [y, y], epochs=2, verbose=0)))
    print(m.metrics_names, [p.shape for p in m.predict([x, x], verbose=0)])
