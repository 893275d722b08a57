"""Runs programs that import tensorflow: the name stands for this package in a process that is started with `python3 -m thalweg`."""
import sys


def stand_in():
    """Makes `import tensorflow` (and tensorflow.keras, keras …) give this package."""
    import thalweg
    for name, module in list(sys.modules.items()):
        if name == "thalweg" or (name.startswith("thalweg.") and not name.startswith("thalweg._")):
            sys.modules["tensorflow" + name[7:]] = module
            module.__name__ = "tensorflow" + name[7:]  # as messages say it
            if name.startswith("thalweg.keras"):
                sys.modules[name[8:]] = module
    return thalweg


USAGE = """usage: python3 -m thalweg script.py [arguments]
       python3 -m thalweg -c code [arguments]
       python3 -m thalweg -m module [arguments]
Runs a program whose `import tensorflow` is to give thalweg."""


def main(arguments):
    import os
    import runpy
    if not arguments or arguments[0] in ("-h", "--help"):
        print(USAGE, file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 2
    if arguments[0] in ("-V", "--version"):
        import thalweg
        print("thalweg", thalweg.__thalweg_version__)
        return 0
    if arguments[0] in ("-c", "-m") and len(arguments) < 2:
        print(USAGE, file=sys.stderr)
        return 2
    stand_in()
    if arguments[0] == "-c":
        import builtins
        import types
        sys.argv = ["-c"] + arguments[2:]
        sys.path[0] = ""
        main_module = types.ModuleType("__main__")
        main_module.__builtins__ = builtins
        sys.modules["__main__"] = main_module
        exec(compile(arguments[1], "<string>", "exec"), main_module.__dict__)
    elif arguments[0] == "-m":
        sys.argv = arguments[1:]
        sys.path[0] = os.getcwd()
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))
        runpy.run_path(arguments[0], run_name="__main__")
    return 0
