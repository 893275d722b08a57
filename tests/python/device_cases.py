"""Devices: expressions in order, in a process of their own, whose values and errors are TensorFlow's. tests/golden/devices.py runs them under
TensorFlow and writes devices.json; test_devices.py runs them here."""

SETUP = """
cpu = tf.config.list_physical_devices('CPU')[0]
other = tf.config.PhysicalDevice('x', 'GPU')
one = tf.config.LogicalDeviceConfiguration()

def here(name):
    with tf.device(name):
        return (tf.constant(1.) * 2.).device

def node(*names):
    with tf.Graph().as_default() as g, contextlib.ExitStack() as stack:
        for name in names:
            stack.enter_context(tf.device(name))
        x = tf.constant(1.) + 1.
        return x.device, [n.device for n in g.as_graph_def().node]

def variable(make):
    with tf.Graph().as_default() as g:
        with tf.device('/job:ps'), tf.device('/GPU:1'):
            v = make()
            y = v + 1.
        return [(o.name, o.device) for o in g.get_operations()], v.device

def imported():
    with tf.Graph().as_default() as g:
        with tf.device('/GPU:1'):
            tf.constant(1., name='c')
    with tf.Graph().as_default() as h:
        with tf.device('/job:ps'):
            tf.import_graph_def(g.as_graph_def(), name='')
        return [o.device for o in h.get_operations()]

def session(name, **config):
    with tf.Graph().as_default():
        with tf.device(name):
            x = tf.constant(5.)
        with tf.compat.v1.Session(config=tf.compat.v1.ConfigProto(**config)) as s:
            return float(s.run(x))
"""
NAMES = ("cpu:0", "CPU", "/cpu:0", "/device:CPU:0", "/job:localhost/replica:0/task:0/device:CPU:0", "/GPU:0", "gpu", "/device:XPU:0", "/CPU:5",
         "/job:localhost/task:0/CPU:0", "/task:1", "/replica:3", "/job:worker", "foo", "/foo:1", "/CPU:x", "", "/", "/device:CPU", "CPU:*", "TPU:0",
         "/device:CPU:0:1", "//CPU:0", "/gpu:0/cpu:1")
EXPRESSIONS = """
tf.config.list_physical_devices()
tf.config.list_physical_devices('GPU')
cpu == tf.config.PhysicalDevice('/physical_device:CPU:0', 'CPU')
cpu[0], cpu._fields
tf.config.LogicalDevice('a', 'CPU')
tf.config.LogicalDeviceConfiguration(memory_limit=1024)
tf.config.experimental.VirtualDeviceConfiguration is tf.config.LogicalDeviceConfiguration
tf.config.experimental.VirtualDeviceConfiguration(memory_limit=4096)
tf.config.get_visible_devices()
tf.config.get_visible_devices('GPU')
tf.config.set_visible_devices(devices=[], device_type='GPU')
tf.config.set_visible_devices(cpu)
tf.config.set_visible_devices([cpu], 'GPU')
tf.config.set_visible_devices(other, 'GPU')
tf.config.set_visible_devices([3])
tf.config.set_visible_devices([], 'CPU')
tf.config.get_visible_devices()
tf.config.set_visible_devices([cpu], 'CPU')
tf.config.experimental.set_memory_growth(device=cpu, enable=True)
tf.config.experimental.set_memory_growth(other, True)
tf.config.experimental.set_memory_growth(3, True)
tf.config.get_logical_device_configuration(cpu)
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration(memory_limit=1024)])
tf.config.experimental.set_virtual_device_configuration(cpu, [tf.config.experimental.VirtualDeviceConfiguration(memory_limit=2048)])
tf.config.set_logical_device_configuration(other, [one])
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration(experimental_priority=1)])
tf.config.set_logical_device_configuration(cpu, [one, one])
tf.config.get_logical_device_configuration(cpu)
tf.config.experimental.set_memory_growth(cpu, True)
tf.config.threading.get_intra_op_parallelism_threads(), tf.config.threading.get_inter_op_parallelism_threads()
tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(3)
tf.config.threading.get_intra_op_parallelism_threads(), tf.config.threading.get_inter_op_parallelism_threads()
float(tf.reduce_sum(tf.ones([100, 100])))
len(tf.config.list_logical_devices())
tf.config.list_logical_devices()
tf.config.list_logical_devices('GPU')
tf.config.set_visible_devices([], 'GPU')
tf.config.set_visible_devices([cpu])
tf.config.set_visible_devices([], 'CPU')
tf.config.set_logical_device_configuration(cpu, [one, one])
tf.config.set_logical_device_configuration(cpu, [one])
tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_intra_op_parallelism_threads(2)
tf.config.threading.set_inter_op_parallelism_threads(2)
tf.config.experimental.get_memory_info('CPU:0')
tf.config.experimental.get_memory_info('CPU')
tf.config.experimental.reset_memory_stats('CPU:0')
tf.config.experimental.get_device_details(cpu)
tf.config.get_soft_device_placement()
tf.config.set_soft_device_placement(False)
here('/GPU:0')
here('/CPU:5')
tf.config.set_soft_device_placement(True)
here('/GPU:0')
tf.debugging.get_log_device_placement()
node('/job:ps', '/GPU:1')
node('/job:ps', '/GPU:1', '/CPU:0')
node('/job:ps', '/GPU:1', None)
node('/job:ps', None, '/GPU:1')
node('/GPU:1', '/CPU')
node('/job:ps', '/GPU:1', '/task:2')
variable(lambda: tf.Variable(1., name='v'))
variable(lambda: tf.compat.v1.get_variable('v', [2]))
imported()
session('/CPU:0')
session('/GPU:0', allow_soft_placement=True)
tf.DeviceSpec(job='ps', task=1, device_type='gpu', device_index=2).to_string()
tf.DeviceSpec.from_string('/job:ps/cpu:0')
tf.DeviceSpec.from_string('/job:ps').make_merged_spec(tf.DeviceSpec.from_string('/gpu:1')).to_string()
tf.DeviceSpec.from_string('/gpu:1').replace(device_index=3).to_string()
tf.DeviceSpec.from_string('foo')
tf.DeviceSpec.from_string('/cpu:0') == tf.DeviceSpec.from_string('/device:CPU:0')
tf.DeviceSpec.from_string('/gpu').device_index, tf.DeviceSpec.from_string('/gpu:1').device_type, tf.DeviceSpec().to_string()
""".strip().split("\n") + ["here(%r)" % n for n in NAMES] + ["node(%r)" % n for n in NAMES]


def run(tf):
    """[expression, value or error] for every expression."""
    import contextlib
    names = {"tf": tf, "contextlib": contextlib}
    exec(SETUP, names)
    results = []
    for expression in EXPRESSIONS:
        try:
            results.append([expression, repr(eval(expression, names))])
        except Exception as e:
            results.append([expression, "%s: %s" % (type(e).__name__, e)])
    return results
