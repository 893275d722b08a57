"""Runs programs that import tensorflow: the name stands for this package in a process that is started with `python3 -m thalweg`."""
import sys


class _Aliases:
    """Finds tensorflow.X as thalweg.X: one module under two names, whichever is imported first; tf_keras, which is keras; and tensorflow_datasets."""

    @staticmethod
    def find_spec(fullname, path=None, target=None):
        """What the import system asks."""
        if not fullname.startswith(("tensorflow.", "keras.", "tf_keras.")) and fullname not in ("tensorflow_datasets", "tf_keras"):
            return None
        from importlib.machinery import ModuleSpec, PathFinder
        if fullname == "tensorflow_datasets" and PathFinder.find_spec(fullname):  # the real one is installed
            return None
        return ModuleSpec(fullname, _Aliases)

    @staticmethod
    def create_module(spec):
        """The module that is meant."""
        import importlib
        own = "thalweg." + ("_tfds" if spec.name == "tensorflow_datasets" else spec.name.removeprefix("tensorflow.").removeprefix("tf_"))
        try:
            return importlib.import_module(own)
        except ModuleNotFoundError as error:
            if error.name != own:
                raise
            raise ModuleNotFoundError("No module named %r" % spec.name, name=spec.name) from None

    @staticmethod
    def exec_module(module):
        """It is there already."""

    @staticmethod
    def find_distributions(context=None):
        """What importlib.metadata asks: packages look there for TensorFlow's version."""
        from importlib import metadata
        import thalweg

        class Distribution(metadata.Distribution):
            """The installed package that tensorflow, or keras, would be."""

            def __init__(self, name, version):
                self._text = "Metadata-Version: 2.1\nName: %s\nVersion: %s\n" % (name, version)

            def read_text(self, filename):
                """Its metadata; it has no other files."""
                return self._text if filename == "METADATA" else None

            def locate_file(self, path):
                """A file of the package."""
                import pathlib
                return pathlib.Path(thalweg.__path__[0]) / path
        wanted = getattr(context, "name", None)
        return [Distribution(name, version) for name, version in (("tensorflow", thalweg.__version__), ("keras", thalweg.keras.__version__))
                if wanted in (None, name)]


def stand_in():
    """Makes `import tensorflow` (and tensorflow.keras, keras …) give this package, here and in processes that multiprocessing starts."""
    import thalweg
    if _Aliases in sys.meta_path:
        return thalweg
    other = sys.modules.get("tensorflow", thalweg)
    if other is not thalweg and getattr(other, "__file__", None) != thalweg.__path__[0] + "/_stand_in/tensorflow.py":
        raise ImportError("thalweg can't take TensorFlow's place: tensorflow was imported before, from %s" % getattr(other, "__file__", "elsewhere"))
    sys.meta_path.insert(0, _Aliases)
    folder = thalweg.__path__[0] + "/_stand_in"
    if folder not in sys.path:
        sys.path.insert(min(1, len(sys.path)), folder)  # behind the program's own folder; started processes take the path over
    for name, module in list(sys.modules.items()):
        if name == "thalweg" or (name.startswith("thalweg.") and not name.startswith("thalweg._")):
            sys.modules["tensorflow" + name[7:]] = module
            module.__name__ = "tensorflow" + name[7:]  # as messages say it
            if name.startswith("thalweg.keras"):
                sys.modules[name[8:]] = module
    return thalweg


USAGE = """usage: python3 -m thalweg script.py [arguments]
       python3 -m thalweg - [arguments]          a program from the standard input
       python3 -m thalweg -i                     lines, one after the other
       python3 -m thalweg -c code [arguments]
       python3 -m thalweg -m module [arguments]
       python3 -m thalweg tensorboard --logdir DIR [options]
Runs a program whose `import tensorflow` is to give thalweg."""


def execute(source, name, file=None):
    """Runs source as the program, as python3 does: a traceback begins at the program's own lines."""
    import builtins
    import types
    main_module = types.ModuleType("__main__")
    main_module.__builtins__ = builtins
    if file:
        main_module.__file__ = file
    sys.modules["__main__"] = main_module
    try:
        exec(compile(source, name, "exec"), main_module.__dict__)
    except (SystemExit, KeyboardInterrupt):
        raise
    except BaseException as error:
        inner = error.__traceback__.tb_next
        sys.excepthook(type(error), error.with_traceback(inner), inner)
        return 1
    return 0


def command():
    """The program `thalweg` of a wheel: the command is part of the extension, and Python is here already for `run`."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["run"] and arguments[1:2] not in (["-h"], ["--help"]):
        return main(arguments[1:] or ["-i" if sys.stdin.isatty() else "-"])
    from thalweg import _core
    return _core._command(arguments)


def tensorboard():
    """The program `thalweg-tensorboard`."""
    from thalweg import _core
    return _core._command(["tensorboard"] + sys.argv[1:])


def interact():
    """Lines from a terminal: `tf` is there, and Tab completes names."""
    import code
    import thalweg
    names = {"__name__": "__main__", "__doc__": None, "tf": thalweg}
    try:
        import readline
        import rlcompleter
        readline.set_completer(rlcompleter.Completer(names).complete)
        readline.parse_and_bind("tab: complete")
    except ImportError:
        pass  # lines are typed all the same
    code.interact("thalweg %s, Python %s. `tf` is there; `import tensorflow` gives it, too. Ctrl-D ends." % (
        thalweg.__thalweg_version__, sys.version.split()[0]), local=names, exitmsg="")


def main(arguments):
    import os
    if not arguments or arguments[0] in ("-h", "--help"):
        print(USAGE, file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 2
    if arguments[0] in ("-V", "--version"):
        import thalweg
        print("thalweg", thalweg.__thalweg_version__)
        return 0
    if arguments[0] == "tensorboard" and not os.path.isfile("tensorboard"):
        from thalweg import _core
        return _core._command(arguments)
    if arguments[0] in ("-c", "-m") and len(arguments) < 2:
        print(USAGE, file=sys.stderr)
        return 2
    stand_in()
    if arguments[0] == "-c":
        sys.argv = ["-c"] + arguments[2:]
        sys.path[0] = ""
        return execute(arguments[1], "<string>")
    if arguments[0] == "-m":
        import runpy
        sys.argv = arguments[1:]
        sys.path[0] = os.getcwd()
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return 0
    if arguments[0] == "-i":
        sys.argv, sys.path[0] = [""], ""
        interact()
        return 0
    if arguments[0] == "-":
        sys.argv, sys.path[0] = arguments, ""
        return execute(sys.stdin.read(), "<stdin>")
    path = os.path.abspath(arguments[0])  # as Python names the program since 3.9
    sys.argv = arguments
    if os.path.isdir(path) or path.endswith((".zip", ".pyz")):
        import runpy
        runpy.run_path(path, run_name="__main__")
        return 0
    try:
        with open(path, "rb") as f:
            source = f.read()
    except OSError as error:
        print("thalweg: can't open file %r: [Errno %d] %s" % (os.path.abspath(path), error.errno, error.strerror), file=sys.stderr)
        return 2
    sys.path[0] = os.path.dirname(os.path.abspath(path))
    return execute(source, os.path.abspath(path), path)
