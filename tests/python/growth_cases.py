"""What may grow: each case makes something of n parts, sends it through a format or a call, and checks every part.

A case is a function of n and a folder. Its name says what grows and where. test_growth.py runs all of them with small numbers, the long run with
thousands."""
import json
import os
import subprocess
import sys

import numpy as np
import thalweg as tf

layers = tf.keras.layers
CASES = []


def case(most=None, costs=1):
    """`most`: the largest n that docs/differences.md allows. `costs`: in the long run n is divided by it."""
    def add(function):
        function.most, function.costs = most, costs
        CASES.append(function)
        return function
    return add


def deep(n):
    """A model of n layers with weights that all differ."""
    model = tf.keras.Sequential([layers.Dense(2, input_shape=(2,))] + [layers.Dense(2) for _ in range(n - 1)])
    model.set_weights([np.full(w.shape, i / 7, np.float32) + np.arange(w.size).reshape(w.shape) for i, w in enumerate(model.get_weights())])
    return model


def same(a, b):
    assert len(a) == len(b)
    for x, y in zip(a, b):
        np.testing.assert_array_equal(np.asarray(x), np.asarray(y))


def back(model, loaded):
    assert [layer.name for layer in loaded.layers] == [layer.name for layer in model.layers]
    same(model.get_weights(), loaded.get_weights())


@case()
def layers_in_memory(n, folder):
    model = deep(n)
    assert len(model.layers) == n and len(set(map(id, model.layers))) == n
    assert len(model.weights) == len(set(map(id, model.weights))) == 2 * n
    assert len(model.submodules) >= n and len(model.trainable_variables) == 2 * n
    model.layers[n // 2].trainable = False
    assert len(model.trainable_variables) == 2 * n - 2 and len(model.non_trainable_variables) == 2
    assert model.count_params() == 6 * n


@case()
def layers_h5(n, folder):
    model = deep(n)
    model.save(folder + "/m.h5")
    back(model, tf.keras.models.load_model(folder + "/m.h5"))


@case()
def layers_h5_weights(n, folder):
    model, other = deep(n), tf.keras.Sequential([layers.Dense(2, input_shape=(2,))] + [layers.Dense(2) for _ in range(n - 1)])
    model.save_weights(folder + "/w.h5")
    other.load_weights(folder + "/w.h5")
    same(model.get_weights(), other.get_weights())
    for a, b in zip(model.layers, other.layers):
        b._name = a.name
    model.load_weights(folder + "/w.h5", by_name=True)


@case()
def layers_keras(n, folder):
    model = deep(n)
    model.save(folder + "/m.keras")
    back(model, tf.keras.models.load_model(folder + "/m.keras"))


@case(costs=4)
def layers_saved_model(n, folder):
    model = deep(n)
    model.save(folder + "/m")
    back(model, tf.keras.models.load_model(folder + "/m"))


@case()
def layers_checkpoint(n, folder):
    model, other = deep(n), deep(n)
    other.set_weights([w * 0 for w in other.get_weights()])
    model.save_weights(folder + "/c")
    other.load_weights(folder + "/c").assert_consumed()
    same(model.get_weights(), other.get_weights())


@case()
def layers_json(n, folder):
    model = deep(n)
    text = model.to_json()
    other = tf.keras.models.model_from_json(text)
    assert [layer.name for layer in other.layers] == [layer.name for layer in model.layers] and json.loads(other.to_json()) == json.loads(text)


def trained(n):
    model = deep(n)
    model.compile("adam", "mse")
    model.set_weights([w * 1e-3 for w in model.get_weights()])
    model.train_on_batch(np.ones((2, 2), np.float32), np.ones((2, 2), np.float32))
    return model


@case(costs=4)
def optimizer_state_h5(n, folder):
    model = trained(n)
    model.save(folder + "/m.h5")
    same(model.optimizer.variables, tf.keras.models.load_model(folder + "/m.h5").optimizer.variables)


@case(costs=4)
def optimizer_state_keras(n, folder):
    model = trained(n)
    model.save(folder + "/m.keras")
    same(model.optimizer.variables, tf.keras.models.load_model(folder + "/m.keras").optimizer.variables)


class Wide(layers.Layer):
    """A layer of n weights."""

    def __init__(self, n=1, **others):
        super().__init__(**others)
        self.n = n

    def build(self, shape):
        self.many = [self.add_weight(name="w%d" % i, shape=(1,), initializer=tf.keras.initializers.Constant(i)) for i in range(self.n)]

    def call(self, x):
        return x + self.many[0] + self.many[-1]

    def get_config(self):
        return dict(super().get_config(), n=self.n)


def wide(n):
    return tf.keras.Sequential([layers.InputLayer((1,)), Wide(n)])


@case()
def weights_of_a_layer_h5(n, folder):
    model = wide(n)
    model.save(folder + "/m.h5")
    same(model.get_weights(), tf.keras.models.load_model(folder + "/m.h5", custom_objects={"Wide": Wide}).get_weights())


@case()
def weights_of_a_layer_keras(n, folder):
    model = wide(n)
    model.save(folder + "/m.keras")
    same(model.get_weights(), tf.keras.models.load_model(folder + "/m.keras", custom_objects={"Wide": Wide}).get_weights())


@case()
def long_names_h5(n, folder):
    """Lists of names that one attribute can't hold."""
    model = tf.keras.Sequential([layers.InputLayer((2,))] + [layers.Dense(2, name="layer_%06d_" % i + "x" * 240) for i in range(n)])
    model.save_weights(folder + "/w.h5")
    other = tf.keras.models.clone_model(model)
    other.load_weights(folder + "/w.h5")
    same(model.get_weights(), other.get_weights())


@case()
def name_of_many_letters(n, folder):
    name = "x" * min(n, 60000)
    model = tf.keras.Sequential([layers.InputLayer((2,)), layers.Dense(2, name=name)])
    for file in ("w.h5", "m.h5", "m.keras"):
        (model.save_weights if file[0] == "w" else model.save)(folder + "/" + file)
        other = tf.keras.models.clone_model(model)
        other.load_weights(folder + "/" + file)
        same(model.get_weights(), other.get_weights())


@case()
def variables_checkpoint(n, folder):
    one = tf.train.Checkpoint(**{"v%d" % i: tf.Variable(float(i)) for i in range(n)})
    path = one.write(folder + "/c")
    two = tf.train.Checkpoint(**{"v%d" % i: tf.Variable(-1.0) for i in range(n)})
    two.read(path).assert_consumed()
    assert [float(getattr(two, "v%d" % i)) for i in range(n)] == [float(i) for i in range(n)]
    assert len(tf.train.list_variables(path)) == n + 1


@case()
def list_checkpoint(n, folder):
    one = tf.train.Checkpoint(l=[tf.Variable(float(i)) for i in range(n)], d={"k%d" % i: tf.Variable(float(i)) for i in range(n)})
    path = one.save(folder + "/c")
    two = tf.train.Checkpoint(l=[tf.Variable(0.0) for i in range(n)], d={"k%d" % i: tf.Variable(0.0) for i in range(n)})
    two.restore(path).assert_consumed()
    assert [float(v) for v in two.l] == [float(two.d["k%d" % i]) for i in range(n)] == [float(i) for i in range(n)]


@case()
def checkpoints_of_a_manager(n, folder):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(0.0))
    manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=n)
    for i in range(n // 8 + 2):
        checkpoint.v.assign(float(i))
        manager.save()
    again = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=n)
    assert len(again.checkpoints) == n // 8 + 2
    checkpoint.restore(again.checkpoints[n // 16])
    assert float(checkpoint.v) == n // 16


@case(costs=4)
def signatures(n, folder):
    module = tf.Module()
    module.v = tf.Variable(2.0)
    def one(i):
        return tf.function(lambda x: {"out": x * module.v + float(i)}, input_signature=[tf.TensorSpec([], tf.float32, name="x")])
    n = max(n // 8, 4)
    tf.saved_model.save(module, folder + "/s", signatures={"s%d" % i: one(i) for i in range(n)})
    loaded = tf.saved_model.load(folder + "/s")
    assert len(loaded.signatures) == n
    for i in (0, n // 2, n - 1):
        assert float(loaded.signatures["s%d" % i](x=tf.constant(3.0))["out"]) == 6.0 + i


@case(costs=2)
def nodes_of_a_function(n, folder):
    module = tf.Module()
    def body(x):
        for i in range(n):
            x = x + float(i)
        return x
    module.f = tf.function(body, input_signature=[tf.TensorSpec([2], tf.float32)])
    expected = np.asarray(module.f(tf.zeros(2)))
    tf.saved_model.save(module, folder + "/s")
    same(expected, np.asarray(tf.saved_model.load(folder + "/s").f(tf.zeros(2))))
    same(expected, body(np.zeros(2, np.float32)))


@case()
def inputs_and_outputs_of_a_function(n, folder):
    module = tf.Module()
    module.f = tf.function(lambda values: [v * 2.0 for v in values], input_signature=[[tf.TensorSpec([], tf.float32)] * n])
    values = [tf.constant(float(i)) for i in range(n)]
    assert [float(v) for v in module.f(values)] == [2.0 * i for i in range(n)]
    tf.saved_model.save(module, folder + "/s")
    assert [float(v) for v in tf.saved_model.load(folder + "/s").f(values)] == [2.0 * i for i in range(n)]


@case()
def captured_variables(n, folder):
    module = tf.Module()
    module.vs = [tf.Variable(float(i)) for i in range(n)]
    module.f = tf.function(lambda x: x + tf.add_n([v * 1.0 for v in module.vs]), input_signature=[tf.TensorSpec([], tf.float32)])
    expected = float(module.f(tf.constant(1.0)))
    assert expected == 1 + n * (n - 1) / 2
    tf.saved_model.save(module, folder + "/s")
    assert float(tf.saved_model.load(folder + "/s").f(tf.constant(1.0))) == expected


@case()
def variables_as_arguments(n, folder):
    vs = [tf.Variable(float(i)) for i in range(n)]
    f = tf.function(lambda list: tf.add_n([v * (i % 3 + 1.0) for i, v in enumerate(list)]))
    assert float(f(vs)) == float(sum(i * (i % 3 + 1) for i in range(n)))
    with tf.GradientTape() as tape:
        y = f(vs)
    assert [float(g) for g in tape.gradient(y, vs)] == [i % 3 + 1.0 for i in range(n)]
    twice = tf.function(lambda list: tf.stack([v * 1.0 for v in list]))
    same(twice(vs + vs[::-1]), list(range(n)) + list(range(n))[::-1])


def many_inputs(n):
    inputs = [tf.keras.Input((1,), name="in%d" % i) for i in range(n)]
    return tf.keras.Model(inputs, layers.Add()([x * (i % 3 + 1.0) for i, x in enumerate(inputs)]))


@case(costs=4)
def inputs_of_a_model(n, folder):
    values = [np.full((2, 1), i, np.float32) for i in range(n)]
    model = many_inputs(n)
    expected = np.asarray(model(values))
    same(expected, np.full((2, 1), sum(i * (i % 3 + 1) for i in range(n))))
    same(expected, model.predict(values, verbose=0))
    same(expected, model.predict({"in%d" % i: v for i, v in enumerate(values)}, verbose=0))
    for file in ("m.h5", "m.keras", "m"):
        model.save(folder + "/" + file)
        same(expected, tf.keras.models.load_model(folder + "/" + file).predict(values, verbose=0))


@case(costs=8)
def outputs_of_a_model(n, folder):
    x = tf.keras.Input((1,))
    model = tf.keras.Model(x, [layers.Dense(1, name="o%d" % i, kernel_initializer=tf.keras.initializers.Constant(i))(x) for i in range(n)])
    check = lambda model: [same(np.asarray(y), [[i]]) for i, y in enumerate(model.predict(np.ones((1, 1), np.float32), verbose=0))]
    assert len(check(model)) == n
    model.compile("sgd", "mse")
    losses = model.evaluate(np.ones((1, 1), np.float32), [np.zeros((1, 1), np.float32)] * n, verbose=0)
    assert len(losses) == n + 1 and losses[1:] == [float(i * i) for i in range(n)]
    for file in ("m.h5", "m.keras", "m"):
        model.save(folder + "/" + file)
        assert len(check(tf.keras.models.load_model(folder + "/" + file))) == n


@case()
def metrics_of_a_model(n, folder):
    model = deep(2)
    n = n // 4 + 1
    model.compile("sgd", "mse", metrics=[tf.keras.metrics.MeanAbsoluteError(name="m%d" % i) for i in range(n)])
    assert len(model.evaluate(np.ones((2, 2)), np.ones((2, 2)), verbose=0)) == n + 1
    model.save(folder + "/m.h5")
    loaded = tf.keras.models.load_model(folder + "/m.h5")
    assert len(loaded.evaluate(np.ones((2, 2)), np.ones((2, 2)), verbose=0)) == n + 1


@case(costs=4)
def nodes_of_a_functional_model(n, folder):
    """One layer called n times."""
    shared = layers.Dense(1, use_bias=False, kernel_initializer="ones")
    x = y = tf.keras.Input((1,))
    for _ in range(n):
        y = shared(y)
    model = tf.keras.Model(x, y)
    for file in ("m.h5", "m.keras"):
        model.save(folder + "/" + file)
        loaded = tf.keras.models.load_model(folder + "/" + file)
        assert float(loaded.predict(np.full((1, 1), 3, np.float32), verbose=0)[0, 0]) == 3


@case(most=60)
def models_in_models(n, folder):
    model = tf.keras.Sequential([layers.Dense(2, input_shape=(2,))])
    for _ in range(min(n, 60) - 1):
        model = tf.keras.Sequential([model])
    for file in ("m.h5", "m.keras"):
        model.save(folder + "/" + file)
        same(model.get_weights(), tf.keras.models.load_model(folder + "/" + file).get_weights())


@case(most=900)
def dataset_steps(n, folder):
    dataset = tf.data.Dataset.range(3)
    for i in range(min(n, 900)):
        dataset = dataset.map(lambda x: x + 1) if i % 10 == 0 else dataset.take(5)
    assert [int(x) for x in dataset] == [x + -(-min(n, 900) // 10) for x in range(3)]


@case()
def dataset_parts(n, folder):
    dataset = tf.data.Dataset.from_tensor_slices({"k%05d" % i: np.arange(2) + i for i in range(n)})
    dataset.save(folder + "/d")
    for j, element in enumerate(tf.data.Dataset.load(folder + "/d")):
        assert len(element) == n and all(int(element["k%05d" % i]) == i + j for i in range(n))
    assert len(list(tf.data.Dataset.zip(tuple(tf.data.Dataset.range(2) for _ in range(n))))[1]) == n


@case()
def files_of_records(n, folder):
    names = []
    for i in range(n):
        names.append(folder + "/f%05d" % i)
        with tf.io.TFRecordWriter(names[-1]) as writer:
            writer.write(b"%d" % i)
    assert [x.numpy() for x in tf.data.TFRecordDataset(names)] == [b"%d" % i for i in range(n)]
    assert [x.numpy() for x in tf.data.TFRecordDataset(names, num_parallel_reads=4)].__len__() == n
    assert sorted(tf.io.gfile.glob(folder + "/f*")) == names and len(tf.io.gfile.listdir(folder)) == n
    assert len(list(tf.data.Dataset.list_files(folder + "/f*"))) == n


@case()
def records(n, folder):
    with tf.io.TFRecordWriter(folder + "/r") as writer:
        for i in range(n):
            writer.write(b"x" * i)
    assert [len(x.numpy()) for x in tf.data.TFRecordDataset(folder + "/r")] == list(range(n))


@case()
def features_of_an_example(n, folder):
    example = tf.train.Example(features=tf.train.Features(feature={
        "k%d" % i: tf.train.Feature(int64_list=tf.train.Int64List(value=[i])) for i in range(n)}))
    text = example.SerializeToString()
    again = tf.train.Example.FromString(text)
    assert len(again.features.feature) == n
    parsed = tf.io.parse_single_example(text, {"k%d" % i: tf.io.FixedLenFeature([], tf.int64) for i in range(n)})
    assert [int(parsed["k%d" % i]) for i in range(n)] == list(range(n))


@case()
def tags_of_events(n, folder):
    writer = tf.summary.create_file_writer(folder)
    with writer.as_default():
        for i in range(n):
            tf.summary.scalar("tag%d" % i, i, step=i)
    writer.close()
    events = [e for name in os.listdir(folder) for e in tf.compat.v1.train.summary_iterator(folder + "/" + name)]
    values = {v.tag: (e.step, float(tf.make_ndarray(v.tensor))) for e in events for v in e.summary.value}
    assert values == {"tag%d" % i: (i, float(i)) for i in range(n)}


@case()
def event_writers(n, folder):
    n = n // 8 + 1
    writers = [tf.summary.create_file_writer(folder + "/%d" % i) for i in range(n)]
    for i, writer in enumerate(writers):
        with writer.as_default():
            tf.summary.scalar("a", i, step=0)
        writer.close()
    assert sorted(os.listdir(folder), key=int) == [str(i) for i in range(n)]


@case()
def variables_of_a_tape(n, folder):
    vs = [tf.Variable(float(i)) for i in range(n)]
    with tf.GradientTape(persistent=True) as tape:
        y = tf.add_n([v * v for v in vs])
    assert [float(g) for g in tape.gradient(y, vs)] == [2.0 * i for i in range(n)]
    assert len(tape.watched_variables()) == n


@case()
def v1_saver(n, folder):
    with tf.Graph().as_default():
        for i in range(n):
            tf.compat.v1.get_variable("v%d" % i, initializer=float(i))
        saver = tf.compat.v1.train.Saver()
        with tf.compat.v1.Session() as session:
            session.run(tf.compat.v1.global_variables_initializer())
            path = saver.save(session, folder + "/c")
    names = {name for name, _ in tf.train.list_variables(path)}
    assert names == {"v%d" % i for i in range(n)}
    reader = tf.train.load_checkpoint(path)
    assert all(float(reader.get_tensor("v%d" % i)) == i for i in range(n))


@case()
def fetches_and_feeds_of_a_session(n, folder):
    with tf.Graph().as_default():
        places = [tf.compat.v1.placeholder(tf.float32, []) for _ in range(n)]
        doubled = [p * 2 for p in places]
        with tf.compat.v1.Session() as session:
            for _ in range(2):
                assert session.run(doubled, dict(zip(places, range(n)))) == [2.0 * i for i in range(n)]


@case()
def nodes_of_a_graph_def(n, folder):
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, [], name="x")
        y = x
        for i in range(n):
            y = tf.add(y, 1.0, name="add%d" % i)
        definition = graph.as_graph_def()
    again = tf.compat.v1.GraphDef()
    again.ParseFromString(definition.SerializeToString())
    with tf.Graph().as_default():
        y, = tf.import_graph_def(again, return_elements=["add%d:0" % (n - 1)])
        with tf.compat.v1.Session() as session:
            assert session.run(y, {"import/x:0": 0.0}) == n


@case()
def branches(n, folder):
    f = tf.function(lambda i: tf.switch_case(i, [lambda k=k: tf.constant(k) for k in range(n)]))
    assert [int(f(tf.constant(i))) for i in (0, n // 2, n - 1)] == [0, n // 2, n - 1]


@case()
def loop_values(n, folder):
    f = tf.function(lambda: tf.while_loop(lambda i, *v: i < 3, lambda i, *v: (i + 1, *[x + 1 for x in v]), [tf.constant(0)] + [tf.constant(k) for k in range(n)]))
    assert [int(x) for x in f()] == [3] + [k + 3 for k in range(n)]


@case()
def tensor_array(n, folder):
    array = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
    for i in range(n):
        array = array.write(i, i)
    same(array.stack(), np.arange(n))


@case()
def traces_of_a_function(n, folder):
    f = tf.function(lambda x, k: x + k)
    n = min(n, 1000)
    assert [int(f(tf.constant(1), i)) for i in range(n)] == [1 + i for i in range(n)]
    assert [int(f(tf.constant(1), i)) for i in range(n)] == [1 + i for i in range(n)]


@case()
def callbacks(n, folder):
    seen = []
    class Note(tf.keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            seen.append(epoch)
    model = deep(1)
    model.compile("sgd", "mse")
    model.fit(np.ones((1, 2)), np.ones((1, 2)), verbose=0, callbacks=[Note() for _ in range(n)])
    assert len(seen) == n


@case()
def epochs_of_a_history(n, folder):
    model = deep(1)
    model.compile("sgd", "mse")
    history = model.fit(np.ones((1, 2)), np.ones((1, 2)), verbose=0, epochs=n)
    assert history.epoch == list(range(n)) and len(history.history["loss"]) == n


REPLICAS = """
import sys
import numpy as np
import thalweg as tf
n = int(sys.argv[1])
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * n)
strategy = tf.distribute.MirroredStrategy(["CPU:%d" % i for i in range(n)])
with strategy.scope():
    v = tf.Variable(1.0)
assert strategy.num_replicas_in_sync == n and len(strategy.experimental_local_results(v)) == n
numbers = strategy.run(lambda: tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32) + v)
assert [float(x) for x in strategy.experimental_local_results(numbers)] == [1.0 + i for i in range(n)]
assert float(strategy.reduce("SUM", numbers, axis=None)) == n + n * (n - 1) / 2
"""


@case(most=128)
def replicas(n, folder):
    subprocess.run([sys.executable, "-c", REPLICAS, str(min(n, 128))], check=True)


@case(most=128)
def states_of_a_recurrent_layer(n, folder):
    n = min(n, 128)
    cells = [layers.LSTMCell(1) for _ in range(n)]
    model = tf.keras.Sequential([layers.RNN(cells, input_shape=(2, 1))])
    expected = model.predict(np.ones((1, 2, 1), np.float32), verbose=0)
    for file in ("m.h5", "m.keras"):
        model.save(folder + "/" + file)
        same(expected, tf.keras.models.load_model(folder + "/" + file).predict(np.ones((1, 2, 1), np.float32), verbose=0))


@case(most=200)
def arguments_of_a_function(n, folder):
    names = ["a%d" % i for i in range(min(n, 200))]
    space = {"tf": tf}
    exec("def body(%s):\n    return tf.add_n([%s])" % (", ".join(names), ", ".join(names)), space)
    f = tf.function(space["body"], autograph=False)
    assert float(f(*[tf.constant(float(i)) for i in range(len(names))])) == sum(range(len(names)))
    assert float(f(**{k: tf.constant(float(i)) for i, k in enumerate(names)})) == sum(range(len(names)))
