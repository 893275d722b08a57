"""The extension itself: ownership, the collector, memory shared with NumPy, threads, pickling, signatures, lazy imports."""
import ast
import gc
import inspect
import os
import pickle
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

import thalweg as tf
from steady import SANITIZED, resident
from thalweg import _core

BUILD = os.path.dirname(os.path.dirname(os.path.abspath(tf.__file__)))


def python(*arguments, **more):
    environment = dict(os.environ, PYTHONPATH=BUILD)
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=environment, **more)


# ---- memory ----

def loop_add():
    a = tf.constant([1.0, 2.0])
    return a + a * 2.0


def loop_errors():
    for f in (lambda: tf.constant([1, [2]]), lambda: tf.constant([1.0]) + tf.constant([1]), lambda: tf.add(1), lambda: tf.cast(1, "x")):
        with pytest.raises(Exception):
            f()


def loop_variables():
    v = tf.Variable(np.ones(100, np.float32))
    v.assign_add(v * 2.0)
    return v.numpy()


def loop_strings():
    return tf.constant(["a" * 100, "b"]).numpy()


def loop_tape():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    return tape.gradient(y, [x, {"a": x}])


class Cyclic(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(2, activation=lambda x: x + self.offset)
        self.parts = [self.dense, {"own": self}]
        self.offset = tf.Variable(1.0)

    def call(self, x):
        return self.dense(x)


def loop_cycles():
    model = Cyclic()
    model.me = model
    model(np.ones((1, 3), np.float32))


@pytest.mark.parametrize("body", [loop_add, loop_errors, loop_variables, loop_strings, loop_tape, loop_cycles])
def test_memory_stays_flat(body):
    for _ in range(300):
        body()
    gc.collect()
    blocks, memory = sys.getallocatedblocks(), resident()
    for _ in range(600):
        body()
    gc.collect()
    # Recycled tensors (up to 512) and the like may stay.
    assert sys.getallocatedblocks() - blocks < 1000
    if "asan" not in os.environ.get("LD_PRELOAD", ""):  # which keeps freed memory for a while
        assert SANITIZED or resident() - memory < 4 << 20


def test_cycles_are_collected():
    model = Cyclic()
    model.me = model
    model(np.ones((1, 3), np.float32))
    dead = [weakref.ref(model), weakref.ref(model.dense), weakref.ref(model.dense.kernel)]
    del model
    gc.collect()
    assert [d() for d in dead] == [None, None, None]


def test_an_object_keeps_its_python_side_while_c_holds_it():
    model = tf.keras.Sequential([tf.keras.layers.Dense(2)])
    model.layers[0].mark = "here"
    gc.collect()
    assert model.layers[0].mark == "here" and model.layers[0] is model.layers[0]


def test_a_variable_is_the_same_object_everywhere():
    dense = tf.keras.layers.Dense(1)
    dense(np.ones((1, 2), np.float32))
    assert dense.kernel is dense.weights[0]
    with tf.GradientTape() as tape:
        dense(np.ones((1, 2), np.float32))
    assert tape.watched_variables()[0] is dense.kernel


def test_tensors_recycle_without_mixing():
    kept = [tf.constant(float(i)) for i in range(2000)]
    for i in range(0, 2000, 2):
        kept[i] = None
    kept += [tf.constant(float(-i)) for i in range(2000)]
    assert [float(t) for t in kept if t is not None] == [float(i) for i in range(1, 2000, 2)] + [float(-i) for i in range(2000)]


def test_tensors_take_attributes_and_weak_references():
    t = tf.constant(1.0)
    t.mark = 3
    dead = weakref.ref(t)
    assert t.mark == 3 and dead() is t
    del t
    assert dead() is None
    assert not hasattr(tf.constant(1.0), "mark")


# ---- NumPy ----

def test_an_array_changed_later_changes_no_tensor():
    a = np.arange(1000, dtype=np.float32)
    t = tf.constant(a)
    v = tf.Variable(a)
    a[:] = 0
    assert t[5] == 5.0 and v[5] == 5.0


def test_numpy_gives_memory_of_its_own():
    t = tf.constant(np.arange(1000, dtype=np.float32))
    a = t.numpy()
    a[:] = 7
    assert t[5] == 5.0


def test_a_temporary_hands_its_memory_over():
    t = tf.constant(np.arange(1000, dtype=np.float32))
    a = (t + 1.0).numpy()
    a[:] = 7
    assert a.flags.writeable and a.sum() == 7000


def test_asarray_shares_memory():
    t = tf.constant(np.arange(1000, dtype=np.float32))
    a, b = np.asarray(t), np.asarray(t)
    assert np.shares_memory(a, b) and not a.flags.writeable
    del t
    assert a[5] == 5


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32",
                                   "float64", "complex64", "complex128"])
def test_dtypes_go_both_ways(dtype):
    a = np.array([[0, 1, 2], [3, 4, 5]]).astype(dtype)
    t = tf.constant(a)
    assert t.dtype.name == dtype and t.numpy().dtype == a.dtype and np.array_equal(t.numpy(), a)
    assert tf.constant(a[1, 2]).numpy() == a[1, 2]
    assert np.array_equal(tf.constant(a.T).numpy(), a.T) and np.array_equal(tf.constant(a[:, ::-2]).numpy(), a[:, ::-2])


def test_rank_is_limited_by_an_error():
    with pytest.raises(ValueError, match="at most 8"):
        tf.constant(np.zeros((1,) * 9))


def test_a_sequence_that_changes_while_it_is_read():
    class Growing:
        length = 1

        def __len__(self):
            self.length += 1
            return self.length

        def __getitem__(self, index):
            return index
    assert tf.constant(Growing()).shape.rank == 1
    with pytest.raises(ValueError):
        tf.constant([Growing(), [1, 2, 3]])


def test_structures_that_hold_themselves():
    endless = []
    endless.append(endless)
    table = {}
    table["table"] = table

    class Any(tf.keras.layers.Layer):
        def call(self, x):
            return x
    with pytest.raises(ValueError, match="nested deeper"):
        tf.constant(endless)
    for call in (lambda: Any()(endless), lambda: Any()(table), lambda: setattr(Any(), "x", endless), lambda: setattr(Any(), "x", table),
                 lambda: tf.GradientTape().watch(endless), lambda: tf.keras.Sequential(endless), lambda: tf.add_n(endless),
                 lambda: tf.Variable(1.0, constraint=None, variable_def=endless)):
        with pytest.raises((RecursionError, ValueError, NotImplementedError, TypeError)):
            call()


def test_objects_that_give_arrays():
    class Gives:
        def __array__(self, dtype=None, copy=None):
            return np.array([1.0, 2.0], np.float32)
    assert (tf.constant(Gives()) + 1.0).numpy().tolist() == [2.0, 3.0]


# ---- threads ----

def test_threads_compute_at_once():
    big = tf.constant(np.ones((300, 300), np.float32))
    results = []

    def work():
        x = big
        for _ in range(20):
            x = tf.matmul(x, big) / 300.0
        results.append(float(x[0, 0]))
    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(results) == 4 and all(abs(r - 1) < 1e-3 for r in results)


def test_an_error_belongs_to_its_thread():
    seen = []

    def fail():
        try:
            tf.constant([1.0]) + tf.constant([1.0, 2.0, 3.0][:2]) + tf.constant([1.0, 2.0, 3.0])
        except tf.errors.InvalidArgumentError as e:
            seen.append(str(e))
    threads = [threading.Thread(target=fail) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(seen) == 8 and all("Incompatible shapes" in s for s in seen)


def test_an_exception_in_python_comes_out_unchanged():
    class Bad(Exception):
        pass

    def activation(x):
        raise Bad("from inside")
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, activation=activation)])
    with pytest.raises(Bad, match="from inside"):
        model(np.ones((1, 1), np.float32))
    assert float(tf.constant(1.0) + 1.0) == 2.0


# ---- description ----

def test_signatures_and_docs():
    assert str(inspect.signature(tf.nn.softmax)) == "(logits, axis=None, name=None)"
    assert tf.nn.softmax.__name__ == "softmax" and tf.nn.softmax.__module__ == "thalweg.nn" and tf.nn.softmax.__doc__
    assert "softmax" in repr(tf.nn.softmax)
    assert tf.keras.layers.Dense.__name__ == "Dense" and tf.keras.layers.Dense.__doc__
    assert tf.keras.layers.Dense.__module__ == "thalweg.keras.layers"
    assert list(inspect.signature(tf.keras.layers.Dense).parameters)[:2] == ["units", "activation"]
    assert list(inspect.signature(Cyclic).parameters) == []

    class Given(tf.keras.layers.Layer):
        def __init__(self, a, b=2, **more):
            super().__init__(**more)

    class Other(Given):
        def __init__(self, c):
            super().__init__(c)

    told = [str(inspect.signature(f)) for f in (Given, Other, Given(1), tf.keras.layers.Dense(1), tf.keras.Sequential())]
    assert told == ["(a, b=2, **more)", "(c)"] + 3 * ["(*args, **kwargs)"]  # as TensorFlow's
    assert str(inspect.signature(tf.GradientTape.watch)) == "(self, tensor)"


def test_stubs_describe_what_is_there():
    folder = os.path.join(BUILD, "thalweg-stubs")
    if not os.path.isdir(folder):
        pytest.skip("no stubs beside the package")
    with open(os.path.join(folder, "__init__.pyi")) as f:
        if "def __getattr__(name: str) -> Any" in f.read():  # a build that can't run the package when stubs are made
            pytest.skip("the stubs of this build say Any")
    count = 0
    for path, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(path, name)) as f:
                tree = ast.parse(f.read())
            module = tf
            for part in os.path.relpath(path, folder).split(os.sep):
                module = getattr(module, part) if part != "." else module
            if name != "__init__.pyi":
                continue
            for node in tree.body:
                if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
                    assert hasattr(module, node.name), node.name
                    count += 1
    assert count > 200


def test_every_row_is_in_place():
    for _, paths, role, _, doc, _ in _core.rows():
        assert doc
        for path in paths.split("|"):
            value = tf
            for part in path.split("."):
                value = getattr(value, part)


def test_a_function_can_be_pickled():
    assert pickle.loads(pickle.dumps(tf.nn.relu)) is tf.nn.relu
    assert pickle.loads(pickle.dumps(tf.errors.NotFoundError(None, None, "x"))).error_code == 5


def test_a_missing_name_is_told_as_python_tells_it():
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        tf.nothing
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        tf.raw_ops.Nothing
    assert "AddV2" in dir(tf.raw_ops)


def test_raw_ops_take_keywords_only():
    with pytest.raises(TypeError, match="only takes keyword args"):
        tf.raw_ops.AddV2(1.0, 2.0)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'y'"):
        tf.raw_ops.AddV2(x=1.0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        tf.raw_ops.AddV2(x=1.0, y=1.0, z=1)


# ---- processes ----

def test_numpy_is_imported_only_when_needed():
    done = python("-c", "import sys, thalweg as tf; t = tf.constant([1., 2.]) + 1; str(t), float(t[0]); print('numpy' in sys.modules)")
    assert done.stdout.strip() == "False", done.stderr


def test_an_import_loads_no_module_that_it_can_do_without():
    names = "functools types collections importlib warnings re enum inspect typing"
    code = "import sys; before = {*sys.modules}; import thalweg; print(*{*sys.modules} - before)"
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True)
    assert not {*done.stdout.split()} & {*names.split()}


def test_the_module_needs_only_the_stable_abi():
    path = os.path.join(os.path.dirname(tf.__file__), "_core.abi3.so")
    names = subprocess.run(["nm", "-D", "--undefined-only", path], capture_output=True, text=True)
    if names.returncode:
        pytest.skip("no nm")
    wanted = [line.split()[-1] for line in names.stdout.splitlines()]
    assert not [n for n in wanted if n.startswith("_Py") and n not in (
        "_Py_NoneStruct", "_Py_TrueStruct", "_Py_FalseStruct", "_Py_Dealloc", "_Py_EllipsisObject", "_Py_NotImplementedStruct",
        "_PyObject_New", "_PyArg_ParseTupleAndKeywords_SizeT", "_PyArg_ParseTuple_SizeT", "_PyObject_CallFunction_SizeT",
        "_PyObject_CallMethod_SizeT", "_Py_BuildValue_SizeT")]
    exported = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True).stdout.split("\n")
    assert [line.split()[-1] for line in exported if line] == ["PyInit__core"]


def test_import_of_tensorflow_is_redirected(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import sys\nimport tensorflow as tf\nfrom tensorflow import keras\nfrom tensorflow.keras import layers\n"
                      "import tensorflow.keras.backend as K\nfrom tensorflow.keras.layers import Dense\nimport beside\n"
                      "print(tf.constant(3.0), layers.Dense is Dense, keras is tf.keras, K is tf.keras.backend, sys.argv[1:], __name__, "
                      "beside.x, sys.argv[0] == __file__)\n")
    (tmp_path / "beside.py").write_text("x = 5\n")
    done = python("-m", "thalweg", str(script), "--a", "b")
    assert done.stdout == ("tf.Tensor(3.0, shape=(), dtype=float32) True True True ['--a', 'b'] __main__ 5 True\n"), done.stderr


def test_code_and_modules_run(tmp_path):
    done = python("-m", "thalweg", "-c", "import tensorflow as tf, sys; print(tf.__version__, sys.argv)", "x")
    assert done.stdout == "2.15.1 ['-c', 'x']\n", done.stderr
    (tmp_path / "mod.py").write_text("import tensorflow as tf, sys\nprint(tf.add(1, 2).numpy(), sys.argv[1:], __name__)\n")
    done = python("-m", "thalweg", "-m", "mod", "y", cwd=tmp_path)
    assert done.stdout == "3 ['y'] __main__\n", done.stderr


def test_exit_codes(tmp_path):
    script = tmp_path / "fails.py"
    script.write_text("import tensorflow as tf\ntf.nothing\n")
    done = python("-m", "thalweg", str(script))
    assert done.returncode == 1
    assert done.stderr == ("Traceback (most recent call last):\n  File \"%s\", line 2, in <module>\n    tf.nothing\n"
                           "AttributeError: module 'tensorflow' has no attribute 'nothing'\n" % script)
    assert python("-m", "thalweg", str(tmp_path / "not_there.py")).returncode == 2
    assert python("-m", "thalweg").returncode == 2
    assert python("-m", "thalweg", "-h").returncode == 0
    script.write_text("import sys\nsys.exit(7)\n")
    assert python("-m", "thalweg", str(script)).returncode == 7


def test_missing_names_are_the_callers_error():
    """No module's way of finding things late shows in a traceback."""
    import sys
    import traceback
    modules = [module for name, module in sorted(sys.modules.items()) if (name + ".").startswith("thalweg.")]
    assert len(modules) > 80
    for module in modules:
        with pytest.raises(AttributeError) as error:
            module.nothing_at_all
        assert len(traceback.extract_tb(error.value.__traceback__)) == 1, module


def public_callables():
    """(name, callable) of every public module, and of its classes."""
    import sys
    import types
    import numpy
    for path, module in sorted(sys.modules.items()):
        parts = path.split(".")
        if parts[0] != "thalweg" or any(part.startswith("_") for part in parts) or parts[1:2] == ["autograph"]:
            continue
        for name in dir(module):
            value = getattr(module, name, None)
            if name.startswith("_") or isinstance(value, types.ModuleType) or not callable(value) or isinstance(value, type) and issubclass(value, Exception):
                continue
            if isinstance(value, type) and issubclass(value, numpy.generic):  # NumPy's own
                continue
            yield path + "." + name, value
            for member in dir(value) if isinstance(value, type) else ():
                if callable(getattr(value, member, None)) and not member.startswith("_") and not hasattr(int, member) and member != "failureException":
                    yield "%s.%s.%s" % (path, name, member), getattr(value, member)


def test_everything_has_a_signature():
    import inspect
    missing, count = [], 0
    for name, value in public_callables():
        count += 1
        try:
            inspect.signature(value)
        except ValueError as error:
            missing.append((name, str(error)))
    assert not missing and count > 2000, (missing, count)
    assert str(inspect.signature(tf.raw_ops.MatMul)) == "(a, b, transpose_a=None, transpose_b=None, name=None)"
    assert str(inspect.signature(tf.TensorShape)) == "(dims)" and list(inspect.signature(tf.TensorShape([1]).concatenate).parameters) == ["other"]


def test_numbers_that_no_dtype_holds():
    """Without a dtype integers are read as such up to the first float, and floats as float32; tf.add looks at its first argument alone."""
    t, h = tf.constant([1.0, 2.0]), tf.constant([1.0, 2.0], tf.float16)
    for make in (lambda: tf.add(1e39, t), lambda: tf.add([1e39, 1.0], t), lambda: tf.add(1e39, tf.constant([1, 2])), lambda: tf.constant([1e39, 1.0])):
        with pytest.raises(ValueError, match="Can't convert Python sequence with a value out of range for a double-precision float."):
            make()
    for values in ([10**39, 1.0], [1, 10**39, 1.0], [2**63, 1.0], [[10**39, 1.0], [1, 2]], [10**39, 1]):
        with pytest.raises(ValueError, match="Can't convert Python sequence with out-of-range integer to Tensor."):
            tf.constant(values)
    inf = float("inf")
    assert tf.constant([1.0, 10**39]).numpy().tolist() == [1.0, inf] and tf.constant([1, 1.0, 10**39]).numpy().tolist() == [1.0, 1.0, inf]
    assert tf.add(t, 1e39).numpy().tolist() == [inf, inf] and tf.maximum(1e39, t).numpy().tolist() == [inf, inf]
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected to be a float tensor but is a half tensor"):
        tf.add(1.0, h)
