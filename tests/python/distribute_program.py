"""What a program sees of tf.distribute on two logical processors; run by test_distribute.py, and by tests/golden/distribute.py under TensorFlow."""
import numpy as np
import tensorflow as tf


def tell(function):
    """Prints what a function gives, or raises."""
    try:
        print("->", function())
    except Exception as error:
        print("!!", type(error).__name__, str(error).split("\n")[0])


def values(strategy, dataset):
    """The elements of a dataset as lists."""
    return [[v.numpy().tolist() for v in strategy.experimental_local_results(e)] for e in dataset]


tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2)
print(tf.distribute.has_strategy(), tf.distribute.in_cross_replica_context())
s = tf.distribute.MirroredStrategy()
print("Number of devices: {}".format(s.num_replicas_in_sync), s.extended.worker_devices)
tell(lambda: tf.distribute.MirroredStrategy(["CPU:0", "CPU:0"]))
tell(lambda: tf.distribute.MirroredStrategy("CPU:0"))
tell(lambda: tf.distribute.MirroredStrategy(["CPU:1"]).extended.worker_devices)

# ---- variables
ON_READ, HOW = tf.VariableSynchronization.ON_READ, tf.VariableAggregation
with s.scope():
    print(tf.distribute.has_strategy(), tf.distribute.in_cross_replica_context(), tf.distribute.get_replica_context(),
          tf.distribute.get_strategy() is s)
    v = tf.Variable(1.0, name="v")
    m = tf.Variable([1., 2.], aggregation=HOW.MEAN, name="m")
    counted = tf.Variable(0, aggregation=HOW.ONLY_FIRST_REPLICA, dtype=tf.int64, name="it")
    total = tf.Variable(3.0, synchronization=ON_READ, aggregation=HOW.SUM, name="total")
    mean = tf.Variable(4.0, synchronization=ON_READ, aggregation=HOW.MEAN, name="mean")
    alone = tf.Variable(5.0, synchronization=ON_READ, name="alone")
for x in (v, m, counted, total, mean, alone):
    print(x)
    print(repr(x), x.name, x.trainable, x.aggregation, x.synchronization)
    tell(lambda: x.numpy())
    tell(lambda: x.read_value())
    print(x.values)
v.assign(5.)
v.assign_add(1.)
total.assign(8.)
mean.assign(9.)
tell(lambda: total.assign_add(2.))
print(v, total, mean, total + 1, v + 1)


def number():
    return tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32)


# ---- runs
def contexts():
    c = tf.distribute.get_replica_context()
    return c.replica_id_in_sync_group, c.num_replicas_in_sync, c.devices, c.strategy is s, tf.distribute.in_cross_replica_context()


def reductions():
    c = tf.distribute.get_replica_context()
    total.assign_add(number() + 1)
    return c.all_reduce(tf.distribute.ReduceOp.SUM, number() + 1.), c.all_reduce("mean", [number(), {"a": number() * 10}]), v + number(), total + 0.


print(s.run(contexts))
out = s.run(reductions)
print(out, s.experimental_local_results(out), total)
print(s.reduce("SUM", out[2], axis=None), s.reduce(tf.distribute.ReduceOp.MEAN, out[2], axis=None), s.reduce("MEAN", tf.constant(3.), axis=None))
tell(lambda: s.reduce("SUM", tf.constant(3.), axis=None))
tell(lambda: s.reduce("XX", out[2], axis=None))
tell(lambda: out[2] + 1)
rows = s.run(lambda: tf.range(4.) + number())
print(s.reduce("SUM", rows, axis=0), s.reduce("MEAN", rows, axis=0), s.reduce("SUM", rows, axis=None), s.gather(rows, axis=0))
s.run(lambda: v.assign_add(1.))
s.run(lambda: m.assign_add([1., 1.] * number()))
s.run(lambda: counted.assign_add(1))
print(v, m, counted)


def merged(strategy, given):
    print("merge", strategy is s, given, tf.distribute.in_cross_replica_context(), tf.distribute.get_replica_context())
    return strategy.reduce("SUM", given, axis=None)


print(s.run(lambda: tf.distribute.get_replica_context().merge_call(merged, args=(number(),))))
print(tf.function(lambda x: s.run(lambda a: a * v * (number() + 1), args=(x,)))(tf.constant(2.)))
tell(lambda: s.run(lambda: s.run(lambda: 1)))
nested = tf.function(lambda: tf.distribute.get_replica_context().all_reduce("SUM", v + 0.))
print(s.run(nested))


def uneven():
    return tf.distribute.get_replica_context().all_reduce("SUM", 1.) if number() == 0 else 1.


def failing():
    if number() == 1:
        raise KeyError("x")
    return tf.distribute.get_replica_context().all_reduce("SUM", 1.)


tell(lambda: s.run(uneven))
tell(lambda: s.run(failing))
made = []


def making():
    if not made:
        made.append(tf.Variable(2., name="w2"))
    return made[0]


print(s.run(making), made)
print(s.run(lambda: tf.Variable(2., name="w").assign_add(1. + number())))
print(s.run(lambda: None), s.run(lambda: (1, None, "a")))
print(s.run(lambda: [v, {"q": v + number()}]), s.experimental_local_results(v))
tell(lambda: s.run(lambda: v.device))

# ---- data
for size, batch, drop in ((10, 4, False), (7, 4, False), (5, 4, False), (9, 4, True), (13, 5, False), (7, 3, False), (4, 1, False)):
    d = s.experimental_distribute_dataset(tf.data.Dataset.range(size).batch(batch, drop_remainder=drop))
    print(d.element_spec, values(s, d))
for e in s.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices((tf.range(6), {"a": tf.range(6.)})).batch(4)):
    print(e)
d = s.distribute_datasets_from_function(lambda c: (print(c, c.get_per_replica_batch_size(8)), tf.data.Dataset.range(10).batch(4))[1])
print(d.element_spec, values(s, d))
print(values(s, s.distribute_datasets_from_function(lambda c: tf.data.Dataset.range(7).batch(2, drop_remainder=True))))
print(s.experimental_distribute_values_from_function(lambda c: (str(c), c.replica_id_in_sync_group)))


@tf.function
def loop(dataset):
    n = tf.constant(0, tf.int64)
    for x in dataset:
        n += s.reduce("SUM", s.run(lambda a: tf.reduce_sum(a), args=(x,)), axis=None)
    return n


d = s.experimental_distribute_dataset(tf.data.Dataset.range(10).batch(4))
print(loop(d))
iterator = iter(d)
step_of = tf.function(lambda it: s.run(lambda a: tf.reduce_sum(a), args=(next(it),)))
print(step_of(iterator), step_of(iterator), step_of(iterator))
tell(lambda: tf.keras.losses.MeanSquaredError()(tf.ones((2, 2)), tf.zeros((2, 2))))
tell(lambda: s.run(lambda: tf.keras.losses.MeanSquaredError()(tf.ones((2, 2)), tf.zeros((2, 2)))))
tell(lambda: s.run(lambda: tf.nn.compute_average_loss(tf.ones(3))))

# ---- one device
one = tf.distribute.OneDeviceStrategy("/cpu:0")
with one.scope():
    w = tf.Variable(1.)
print(w, one.num_replicas_in_sync, one.run(lambda: (w + 1, tf.distribute.get_replica_context().replica_id_in_sync_group)))
with tf.distribute.MirroredStrategy(["CPU:0"]).scope():
    w = tf.Variable(1., name="w")
print(w, w.assign(3.))

# ---- training
x = np.random.RandomState(0).rand(40, 5).astype("float32")
y = (x.sum(1) > 2.5).astype("int64")


def write(*given):
    print(*[np.array2string(np.asarray(g), precision=4, suppress_small=True, separator=",") if not isinstance(g, (str, int)) else g for g in given])


def train(name, optimizer_of, traced):
    tf.keras.utils.set_random_seed(3)
    with s.scope():
        model = tf.keras.Sequential([tf.keras.layers.Dense(6, activation="relu"), tf.keras.layers.BatchNormalization(), tf.keras.layers.Dense(2)])
        model.build((None, 5))
        optimizer = optimizer_of()
        loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction=tf.keras.losses.Reduction.NONE)
        accuracy, average = tf.keras.metrics.SparseCategoricalAccuracy(), tf.keras.metrics.Mean()

    def step(inputs, labels):
        with tf.GradientTape() as tape:
            logits = model(inputs, training=True)
            each = loss_of(labels, logits)
            loss = tf.nn.compute_average_loss(each, global_batch_size=8)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        accuracy.update_state(labels, logits)
        average.update_state(each)
        return loss

    def whole(inputs, labels):
        return s.reduce("SUM", s.run(step, args=(inputs, labels)), axis=None)
    whole = tf.function(whole) if traced else whole
    for _ in range(2):
        losses = [float(whole(*e)) for e in s.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices((x, y)).batch(8))]
        write(name, int(traced), losses, accuracy.result().numpy(), average.result().numpy())
        accuracy.reset_state()
        average.reset_state()
    moving = model.layers[1].moving_variance
    write(model.get_weights()[0][0], moving.numpy(), optimizer.iterations.numpy())
    write(*[c.numpy() for c in model.trainable_variables[0].values], *[c.numpy() for c in moving.values])


for traced in (False, True):
    train("sgd", lambda: tf.keras.optimizers.SGD(0.1, momentum=0.9), traced)
    train("adam", lambda: tf.keras.optimizers.Adam(0.01), traced)
    train("rmsprop", lambda: tf.keras.optimizers.RMSprop(0.01), traced)
