"""tf.compat.v1.app, flags and logging: what programs take from the command line, and what they log."""
import logging as _logging
import sys

import thalweg as tf

_v1 = tf.compat.v1


# ---- flags ----

class Error(Exception):
    """What is wrong with a flag."""


UnparsedFlagAccessError, IllegalFlagValueError, DuplicateFlagError, UnrecognizedFlagError = (
    type(name, (Error,), {"__doc__": doc, "__module__": __name__}) for name, doc in (
        ("UnparsedFlagAccessError", "A flag was read before the command line was."), ("IllegalFlagValueError", "A value that a flag can't have."),
        ("DuplicateFlagError", "Two flags of one name."), ("UnrecognizedFlagError", "A flag of the command line that nobody defined.")))


class _Flag:
    def __init__(self, name, default, help_text, parse, boolean=False, listed=False):
        self.name, self.default, self.help, self.parse, self.boolean, self.listed = name, default, help_text, parse, boolean, listed
        self.value, self.present, self.required, self.validators = default, 0, False, []

    def set(self, text):
        """Takes a value of the command line, or one that a program gives."""
        try:
            value = self.parse(text)
        except ValueError as e:
            raise IllegalFlagValueError("flag --%s=%s: %s" % (self.name, text, e)) from None
        self.value = (self.value if self.present else []) + [value] if self.listed else value
        self.present += 1


class FlagValues:
    """The flags by name, as attributes."""

    def __init__(self):
        self.__dict__.update(_flags={}, _parsed=False)

    def __getattr__(self, name):
        if name.startswith("__") or name not in self._flags:
            raise AttributeError(name)
        if not self._parsed:
            self(sys.argv, known_only=True)
        return self._flags[name].value

    def __setattr__(self, name, value):
        if name not in self._flags:
            raise AttributeError(name)
        self._flags[name].value = value

    def __delattr__(self, name):
        if name not in self._flags:
            raise AttributeError(name)
        del self._flags[name]

    def __getitem__(self, name):
        return self._flags[name]

    def __contains__(self, name):
        return name in self._flags

    def __iter__(self):
        return iter(self._flags)

    def __len__(self):
        return len(self._flags)

    def __dir__(self):
        return sorted(self._flags)

    def is_parsed(self):
        """Whether the command line was read."""
        return self._parsed

    def mark_as_parsed(self):
        """The flags have their values."""
        self.__dict__["_parsed"] = True

    def unparse_flags(self):
        """As before the command line was read."""
        self.__dict__["_parsed"] = False

    def flag_values_dict(self):
        """Names and values."""
        return {name: flag.value for name, flag in self._flags.items()}

    def get_help(self):
        """What the flags are for."""
        return "\n".join("  --%s%s: %s\n    (default: %r)" % ("[no]" if f.boolean else "", f.name, f.help, f.default) for _, f in sorted(self._flags.items()))

    def __call__(self, argv, known_only=False):
        """Reads the command line; gives what is no flag."""
        rest, arguments = list(argv[:1]), list(argv[1:])
        while arguments:
            argument = arguments.pop(0)
            if argument == "--":
                rest += arguments
                break
            if not argument.startswith("-") or argument == "-":
                rest.append(argument)
                continue
            name, equals, text = argument.lstrip("-").partition("=")
            flag = self._flags.get(name)
            if flag is None and name.startswith("no") and name[2:] in self._flags and self._flags[name[2:]].boolean and not equals:
                self._flags[name[2:]].set("false")
            elif flag is None and known_only:
                rest.append(argument)
            elif flag is None:
                raise UnrecognizedFlagError("Unknown command line flag '%s'" % name)
            elif equals:
                flag.set(text)
            elif flag.boolean:
                flag.set("true")
            elif arguments:
                flag.set(arguments.pop(0))
            else:
                raise Error("Missing value for flag --%s" % name)
        self.mark_as_parsed()
        for flag in self._flags.values():
            if flag.required and flag.value is None:
                raise IllegalFlagValueError("flag --%s=None: Flag --%s must have a value other than None." % (flag.name, flag.name))
            for check, message in flag.validators:
                if not check(flag.value):
                    raise IllegalFlagValueError("flag --%s=%s: %s" % (flag.name, flag.value, message))
        return rest


FLAGS = FlagValues()


def _boolean(text):
    if isinstance(text, bool):
        return text
    if str(text).lower() in ("true", "t", "1", "yes"):
        return True
    if str(text).lower() in ("false", "f", "0", "no"):
        return False
    raise ValueError("Non-boolean argument to boolean flag")


def _listed(text):
    return list(text) if isinstance(text, (list, tuple)) else [part.strip() for part in str(text).split(",")] if text else []


def _define(parse, boolean=False, listed=False):
    def define(name, default, help=None, lower_bound=None, upper_bound=None, flag_values=FLAGS, **others):  # noqa: A002 - the argument's name
        def bounded(text):
            value = parse(text)
            if (lower_bound is not None and value < lower_bound) or (upper_bound is not None and value > upper_bound):
                raise ValueError("%s is not in the range [%s, %s]" % (value, lower_bound, upper_bound))
            return value
        if name in flag_values._flags:
            raise DuplicateFlagError("The flag '%s' is defined twice." % name)
        start = default if default is None else [parse(v) for v in default] if listed and isinstance(default, (list, tuple)) else \
            [parse(default)] if listed else parse(default)
        flag_values._flags[name] = _Flag(name, start, help or "", bounded, boolean, listed)
    return define


def _define_enum(name, default, enum_values, help=None, flag_values=FLAGS, **others):  # noqa: A002 - the argument's name
    def parse(text):
        if text not in enum_values:
            raise ValueError("value should be one of <%s>" % "|".join(enum_values))
        return text
    _define(parse)(name, default, help, flag_values=flag_values)


def mark_flag_as_required(flag_name, flag_values=FLAGS):
    """The command line must give the flag a value."""
    flag_values[flag_name].required = True


def mark_flags_as_required(flag_names, flag_values=FLAGS):
    """The command line must give the flags values."""
    for name in flag_names:
        mark_flag_as_required(name, flag_values)


def register_validator(flag_name, checker, message="Flag validation failed", flag_values=FLAGS):
    """The checker says whether a flag's value will do."""
    flag_values[flag_name].validators.append((checker, message))


def run(main=None, argv=None):
    """Reads the command line and calls main with what is no flag."""
    argv = sys.argv if argv is None else argv
    main = main or sys.modules["__main__"].main
    if any(a in ("-h", "-help", "--help") for a in argv[1:]) and "help" not in FLAGS:
        print((sys.modules["__main__"].__doc__ or "") + "\nflags:\n\n" + FLAGS.get_help())
        sys.exit(1)
    try:
        rest = FLAGS(argv, known_only=True)
    except Error as e:
        sys.stderr.write("FATAL Flags parsing error: %s\n" % e)
        sys.exit(1)
    sys.exit(main(rest))


# ---- logging ----

_counts = {}  # how often calls from a line were made so far


def _count():
    """How often the file that calls was here before, called from the line that calls into it: TensorFlow counts so."""
    frame = sys._getframe(2)
    file = frame.f_code.co_filename
    while frame and frame.f_code.co_filename == file:
        frame = frame.f_back
    key = (frame.f_code.co_filename, frame.f_lineno) if frame else None
    _counts[key] = _counts.get(key, -1) + 1
    return _counts[key]


def log_every_n(level, msg, n, *args):
    """Logs every n-th time."""
    log_if(level, msg, _count() % n == 0, *args)


def log_first_n(level, msg, n, *args):
    """Logs the first n times."""
    log_if(level, msg, _count() < n, *args)


def log_if(level, msg, condition, *args):
    """Logs if the condition holds."""
    if condition:
        tf.get_logger().log(level, msg, *args)


def install():
    """Makes tf.compat.v1.flags, app and logging."""
    flags = tf._module("flags", _v1, FLAGS=FLAGS, FlagValues=FlagValues, Error=Error, UnparsedFlagAccessError=UnparsedFlagAccessError,
                    IllegalFlagValueError=IllegalFlagValueError, DuplicateFlagError=DuplicateFlagError, UnrecognizedFlagError=UnrecognizedFlagError,
                    DEFINE_string=_define(lambda v: v if v is None else str(v)), DEFINE_integer=_define(int), DEFINE_float=_define(float),
                    DEFINE_bool=_define(_boolean, boolean=True), DEFINE_boolean=_define(_boolean, boolean=True), DEFINE_list=_define(_listed),
                    DEFINE_enum=_define_enum, DEFINE_multi_string=_define(str, listed=True), DEFINE_multi_integer=_define(int, listed=True),
                    DEFINE_multi_float=_define(float, listed=True), mark_flag_as_required=mark_flag_as_required,
                    mark_flags_as_required=mark_flags_as_required, register_validator=register_validator)
    tf._module("app", _v1, run=run, flags=flags)
    functions = {name: (lambda *args, _name=name: getattr(tf.get_logger(), _name)(*args)) for name in ("debug", "info", "warning", "error", "fatal")}
    for name, function in functions.items():
        function.__name__ = name  # tf.print knows them by it
    tf._module("logging", _v1, DEBUG=_logging.DEBUG, INFO=_logging.INFO, WARN=_logging.WARNING, ERROR=_logging.ERROR, FATAL=_logging.FATAL,
            warn=functions["warning"], log=lambda level, msg, *args: tf.get_logger().log(level, msg, *args), flush=lambda: None,
            TaskLevelStatusMessage=lambda msg: tf.get_logger().error(msg), vlog=lambda level, msg, *args: tf.get_logger().log(level, msg, *args), get_verbosity=lambda: tf.get_logger().getEffectiveLevel(),
            set_verbosity=lambda v: tf.get_logger().setLevel(v), log_every_n=log_every_n, log_first_n=log_first_n, log_if=log_if, **functions)
