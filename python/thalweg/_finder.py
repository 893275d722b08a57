"""Imports of modules that have no file: `from thalweg.compat.v1.train import Saver` finds what `thalweg.compat.v1.train` is."""
import sys
from importlib.machinery import ModuleSpec


class Members:
    """Finds thalweg.X.Y as the module that is the attribute Y of thalweg.X, loaded late or not."""

    @staticmethod
    def find_spec(fullname, path=None, target=None):
        """What the import system asks when there is no such file."""
        del path, target
        parent, _, name = fullname.rpartition(".")
        if fullname.startswith(("thalweg.python", "thalweg.core")):
            from thalweg import _inner_paths
            return _inner_paths.Finder.find_spec(fullname)
        if not fullname.startswith("thalweg.") or name.startswith("_") or parent not in sys.modules:
            return None
        module = getattr(sys.modules[parent], name, None)
        return ModuleSpec(fullname, Members(module), is_package=True) if isinstance(module, type(sys)) else None

    def __init__(self, module):
        self.module, self.spec = module, getattr(module, "__spec__", None)

    def create_module(self, spec):
        """The module, which is there already."""
        del spec
        return self.module

    def exec_module(self, module):
        """It keeps its own name: it may be found under several."""
        module.__spec__ = self.spec
