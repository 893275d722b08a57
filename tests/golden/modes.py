"""Which ways of running each call of a public function TensorFlow knows: makes tests/golden/modes/modes.json for tests/python/test_modes.py.

The calls are those of the other tables: of api_math.json and api_nn.json, and the outermost call of tf.* in each expression of the tables of
expressions. Tensors and arrays among the arguments become arguments of a function, or are fed. Usage: modes.py (needs tensorflow)"""
import ast
import importlib.util
import json
import os

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
MODES = ("function", "dimensions", "ranks", "session")
# What makes values, random or not, keeps state, takes functions, or needs Python values is not called in a graph with arguments fed.
LEFT_OUT = ("tf.constant", "tf.Variable", "tf.data", "tf.keras.", "tf.random.", "tf.function", "tf.train.", "tf.TensorS", "tf.nest", "tf.as_dtype", "tf.TypeSpec",
            "tf.io.", "tf.nn.dropout", "tf.nn.experimental", "tf.nn.fractional", "tf.summary", "tf.config", "tf.device", "tf.debugging", "tf.Graph", "tf.compat",
            "tf.py_function", "tf.numpy_function", "tf.print", "tf.is_tensor", "tf.TensorArray", "tf.make_", "tf.executing", "tf.stop_recording",
            "tf.GradientTape", "tf.custom_gradient", "tf.raw_ops", "tf.errors", "tf.name_scope", "tf.convert_to_tensor", "tf.dtypes.as", "tf.random_",
            "tf.sets", "tf.initializers", "tf.zeros_init", "tf.ones_init", "tf.get_static", "tf.autograph", "tf.experimental", "tf.image.random", "tf.image.stateless")


def load(name):
    spec = importlib.util.spec_from_file_location(name, os.path.join(HERE, name + ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def table(name):
    with open(os.path.join(HERE, name, name + ".json")) as file:
        return json.load(file)


def path_of(node):
    if isinstance(node, ast.Attribute):
        inner = path_of(node.value)
        return inner and inner + "." + node.attr
    return node.id if isinstance(node, ast.Name) else None


def outermost(expression):
    """The first call of tf.something in it, as (path, call), or None."""
    try:
        waiting = [ast.parse(expression, mode="eval").body]
    except SyntaxError:
        return None
    for node in waiting:
        if isinstance(node, ast.Call):
            path = path_of(node.func)
            if path and path.startswith("tf.") and not path.startswith(LEFT_OUT):
                return path, node
        if isinstance(node, ast.Lambda):
            return None
        waiting += ast.iter_child_nodes(node)
    return None


def array(t, values="values"):
    def number(v):
        return complex(*map(float, v)) if isinstance(v, list) else bytes.fromhex(v["bytes"]) if isinstance(v, dict) else float(v) if isinstance(v, str) else v
    items = [number(v) for v in t[values]]
    kind = object if t["dtype"] == "string" else "float32" if t["dtype"] == "bfloat16" else t["dtype"]
    return np.array(items, kind).reshape(t["shape"])


def cases(tf):
    """{name: function that gives (path, positional, named)}: made when it is needed."""
    out = {}

    def add(name, make):
        out["%s [%d]" % (name, sum(n.startswith(name + " [") for n in out))] = make

    def value(v):
        if isinstance(v, dict) and isinstance(v.get("tensor"), list):
            return tf.cast(array(v, "tensor"), v["dtype"])
        if isinstance(v, dict):
            return tf.as_dtype(v["dtype"]) if "dtype" in v else array(v["tensor"]) if "tensor" in v else complex(*v["complex"])
        return [value(x) for x in v] if isinstance(v, list) else v
    for call in table("api_math")["calls"]:
        if "error" not in call:
            add("tf." + call["name"], lambda c=call: ("tf." + c["name"], [value(a) for a in c["args"]], {k: value(v) for k, v in c["kwargs"].items()}))
    for call in table("api_nn"):
        if "error" not in call and not ("tf." + call["path"]).startswith(LEFT_OUT):
            add("tf." + call["path"], lambda c=call: ("tf." + c["path"], [value(a) for a in c["args"]], {k: value(v) for k, v in c.get("kwargs", {}).items()}))
    plain = load("expressions")
    sources = [(n, [c["expression"] for c in table(n) if "value" in c], plain.SETUP + (load(n).SETUP if own else ""))
               for n, own in (("expressions", False), ("strings", False), ("image_api", True), ("ragged", True), ("sparse", True), ("basics", False))]
    sources.append(("array_api", [c[0] for c in table("array_api") if not c[2]], "x = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])"))
    sources.append(("api_values", [c[1] for c in table("api_values") if "value" in c[2]], None))
    for source, expressions, setup in sources:
        for expression in expressions:
            found = outermost(expression)
            if found and not any(isinstance(a, ast.Starred) for a in found[1].args) and all(k.arg for k in found[1].keywords):
                add(found[0], lambda found=found, setup=setup: evaluated(tf, found, setup))
    return out


def evaluated(tf, found, setup):
    if setup is None:
        names = load("api_values").names(tf)
    else:
        names = {"tf": tf, "np": np}
        exec(setup, names)

    def value(node):
        return eval(compile(ast.Expression(node), "case", "eval"), names)
    given = [value(a) for a in found[1].args]
    if given and isinstance(given[0], list) and not any(tf.is_tensor(v) for v in tf.nest.flatten(given[0])):
        as_array = np.array(given[0]) if given[0] else None
        if as_array is not None and as_array.dtype.kind in "fi" and as_array.ndim:
            given[0] = tf.constant(given[0])
    return found[0], given, {k.arg: value(k.value) for k in found[1].keywords}


def is_input(tf, value):
    return (tf.is_tensor(value) and not isinstance(value, (tf.Variable, tf.RaggedTensor, tf.SparseTensor)) and hasattr(value, "numpy")) or \
        (isinstance(value, np.ndarray) and value.dtype.kind in "fiubc" and value.size > 0)


def flat(tf, value):
    """The dtypes, shapes and bits of a result."""
    out = []
    for v in tf.nest.flatten(value, expand_composites=True):
        v = v if isinstance(v, (np.ndarray, np.generic, bytes)) else v.numpy() if hasattr(v, "numpy") else v
        v = np.asarray(v)
        out.append((str(v.dtype), v.shape, v.tolist() if v.dtype == object else v.tobytes()))
    return out


def run(tf, case, mode):
    """What the call gives in a mode; "eager" is the ordinary one."""
    path, given, named = case
    function = tf
    for part in path.split(".")[1:]:
        function = getattr(function, part)
    leaves = tf.nest.flatten([given, named])
    places = [i for i, v in enumerate(leaves) if is_input(tf, v)]
    if mode == "eager" or not places:
        return flat(tf, function(*given, **named)), len(places)
    inputs = [tf.convert_to_tensor(leaves[i]) for i in places]

    def call(*tensors):
        filled = list(leaves)
        for i, t in zip(places, tensors):
            filled[i] = t
        positional, by_name = tf.nest.pack_sequence_as([given, named], filled)
        return function(*positional, **by_name)
    if mode == "session":
        with tf.Graph().as_default() as graph:
            holders = [tf.compat.v1.placeholder(t.dtype, t.shape) for t in inputs]
            result = tf.nest.map_structure(lambda t: tf.convert_to_tensor(t), call(*holders), expand_composites=True)
            with tf.compat.v1.Session(graph=graph) as session:
                return flat(tf, session.run(tf.nest.flatten(result, expand_composites=True), dict(zip(holders, [t.numpy() for t in inputs])))), len(places)
    specs = None if mode == "function" else [tf.TensorSpec([None] * t.shape.rank if mode == "dimensions" else None, t.dtype) for t in inputs]
    return flat(tf, tf.function(call, input_signature=specs)(*inputs)), len(places)


def close(a, b):
    if len(a) != len(b):
        return False
    for x, y in zip(a, b):
        if x[:2] != y[:2]:
            return False
        if x[2] != y[2]:
            if x[0] == "object" or np.dtype(x[0]).kind not in "fc":
                return False
            if not np.allclose(np.frombuffer(x[2], x[0]), np.frombuffer(y[2], y[0]), rtol=1e-3 if x[0] == "float16" else 1e-5, atol=1e-5, equal_nan=True):
                return False
    return True


def outcome(tf, make, mode, eager):
    """ "same" bits, "near", "other", or the class of the error."""
    try:
        got, _ = run(tf, make(), mode)
    except Exception as error:
        return "%s" % type(error).__name__
    return "same" if got == eager else "near" if close(got, eager) else "other"


def outcomes(tf, make):
    """{mode: outcome} of a case; None if there is nothing to compare."""
    try:
        eager, inputs = run(tf, make(), "eager")
        again, _ = run(tf, make(), "eager")
    except Exception:
        return None
    if not inputs or eager != again:
        return None
    return {mode: outcome(tf, make, mode, eager) for mode in MODES}


def main():
    import tensorflow as tf
    tf.get_logger().setLevel("ERROR")
    found = {name: outcomes(tf, make) for name, make in cases(tf).items()}
    import golden
    with open(golden.path(__file__, "modes.json"), "w") as file:
        json.dump({n: [o[m] for m in MODES] for n, o in found.items() if o}, file, indent=0)
        file.write("\n")


if __name__ == "__main__":
    main()
