"""Imports of modules that have no file: `from thalweg.compat.v1.train import Saver` finds what `thalweg.compat.v1.train` is."""
import sys
from _frozen_importlib import ModuleSpec  # importlib.machinery costs its whole package

_INNER = tuple("thalweg." + name for name in ("python", "core", "compiler", "keras.src", "keras.__internal__", "__internal__", "__operators__"))


class Members:
    """Finds thalweg.X.Y as the module that is the attribute Y of thalweg.X, loaded late or not."""

    @staticmethod
    def find_spec(fullname, path=None, target=None):
        """What the import system asks when there is no such file."""
        del path, target
        parent, _, name = fullname.rpartition(".")
        if not fullname.startswith("thalweg.") or (name.startswith("_") and not name.endswith("__")) or parent not in sys.modules:
            return None
        module = sys.modules[parent].__dict__.get(name) if fullname.startswith(_INNER) else getattr(sys.modules[parent], name, None)
        if isinstance(module, type(sys)):
            return ModuleSpec(fullname, Members(module), is_package=True)
        if not fullname.startswith(_INNER):
            return None
        from thalweg import _inner_paths
        return _inner_paths.Finder.find_spec(fullname)

    def __init__(self, module):
        self.module, self.spec = module, getattr(module, "__spec__", None)

    def create_module(self, spec):
        """The module, which is there already."""
        del spec
        return self.module

    def exec_module(self, module):
        """It keeps its own name: it may be found under several."""
        module.__spec__ = self.spec
