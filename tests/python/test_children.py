"""Processes that multiprocessing starts, under `python3 -m thalweg` and by themselves, and imports of every public module by its dotted name."""
import pytest

from children_cases import METHODS, WAYS, children, start


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("way", WAYS)
def test_children(tmp_path, way, method):
    children(tmp_path, way, method)


IMPORTS = """
import importlib, sys
root = importlib.import_module(sys.argv[1])
names, todo = set(), [("", root)]
while todo:
    prefix, module = todo.pop()
    for name in dir(module):
        value = getattr(module, name, None)
        if not name.startswith("_") and isinstance(value, type(sys)) and value.__name__.split(".")[0] in ("thalweg", "tensorflow", "keras"):
            path = prefix + "." + name
            if path.count(".") < 6 and path not in names:
                names.add(path)
                if not getattr(value, "__file__", None):  # its own imports are not public
                    todo.append((path, value))
for path in sorted(names):
    value = root
    for part in path[1:].split("."):
        value = getattr(value, part)
    assert importlib.import_module(sys.argv[1] + path) is value, path
for path, name in (("compat.v1.train", "AdamOptimizer"), ("keras.utils", "to_categorical"), ("keras.layers", "Dense"), ("data.experimental", "AUTOTUNE"),
                   ("keras.optimizers.schedules", "ExponentialDecay"), ("compat.v1.keras.layers", "Dense"), ("compat.v2.keras", "Model")):
    exec("from %s.%s import %s as found" % (sys.argv[1], path, name))
print(len(names))
"""


@pytest.mark.parametrize("name", ["thalweg", "tensorflow"])
def test_dotted_imports(tmp_path, name):
    (tmp_path / "imports.py").write_text(IMPORTS)
    arguments = ["-m", "thalweg"] if name == "tensorflow" else []
    assert int(start([*arguments, "imports.py", name], tmp_path)) > 80
    with pytest.raises(ModuleNotFoundError):
        __import__("thalweg.no_such_module")
