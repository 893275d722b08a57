"""Where tensors and variables are when the processor is several logical devices: run(tf) gives names and places, in a process of its own.
tests/golden/places.py runs it under TensorFlow and writes places.json; test_devices.py runs it here."""


def run(tf):
    """[what, "CPU:0" or the like] in order."""
    out = []

    def note(what, *values):
        out.extend([what, value.device.rsplit(":", 2)[-2] + ":" + value.device.rsplit(":", 1)[-1]] for value in values)

    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)
    outside, other = tf.constant([1., 2.]), tf.Variable([3., 4.])
    note("outside", outside, other, outside + 1., tf.zeros([2]))
    with tf.device("/CPU:1"):
        inside, variable = tf.constant([1., 2.]), tf.Variable([1., 2.])
        note("made inside", inside, variable, tf.zeros([2]), tf.range(3), tf.random.normal([2]), tf.convert_to_tensor([1, 2]), tf.fill([2], 1.))
        note("computed inside", inside + 1., outside + 1., tf.identity(outside), tf.cast(outside, tf.int32), tf.reshape(outside, [2, 1]),
             tf.reduce_sum(outside), tf.strings.as_string(outside), tf.concat([outside, inside], 0))
        note("read inside", variable.value(), variable.read_value(), variable + 1., other.value(), other.read_value())
        note("assigned inside", variable.assign_add([1., 1.]), other.assign(inside))
        with tf.device("/CPU:2"):
            note("nested", tf.constant(1.), outside * 2.)
        with tf.device(None):
            note("anywhere", tf.constant(1.), inside * 2.)
        with tf.device("/GPU:0"):
            note("not there", outside * 2.)
        note("after", outside * 2.)
    note("brought out", inside + 1., tf.identity(inside), variable.value(), variable.read_value(), variable + 1., variable.assign([0., 0.]))
    note("other's value", other.value(), other)
    variable.assign(outside)
    note("of an outer value", variable.value())

    @tf.function
    def body(x):
        with tf.device("/CPU:1"):
            y = x + 1.
        return y, x * 2.
    note("function", *body(outside))
    with tf.device("/CPU:2"):
        note("function inside", *body(outside))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(other * other)
    note("gradient", loss, tape.gradient(loss, other))
    strategy = tf.distribute.MirroredStrategy(["/CPU:1", "/CPU:2"])
    with strategy.scope():
        mirrored = tf.Variable(1.)

    def step():
        made = tf.constant(1.)
        note("replica", made, mirrored * made, mirrored)
        return mirrored * made
    note("replicas", *strategy.experimental_local_results(strategy.run(step)))
    note("copies", *mirrored.values)
    note("mirrored", mirrored)
    return out
