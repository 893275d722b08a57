"""tf.errors: one class per canonical code. The extension raises them by the list _classes."""


class OpError(Exception):
    """An operation failed."""

    def __init__(self, node_def, op, message, error_code, *args):
        super().__init__()
        self._node_def = node_def
        self._op = op
        self._message = message
        self._error_code = error_code
        self._experimental_payloads = dict(args[0]) if args and args[0] else {}

    def __reduce__(self):
        # The classes below take the code from their own definition.
        code = () if type(self) is not OpError else (self._error_code,)
        return type(self), (self._node_def, self._op, self._message) + code

    message = property(lambda self: self._message, doc="What went wrong.")
    op = property(lambda self: self._op, doc="The operation, if known.")
    error_code = property(lambda self: self._error_code, doc="The canonical code.")
    code = error_code
    node_def = property(lambda self: self._node_def, doc="The node's definition, if known.")
    experimental_payloads = property(lambda self: self._experimental_payloads, doc="More about the error.")

    def __str__(self):
        origin = getattr(self._op, "_origin", None)
        if not origin:
            return str(self._message)
        return "%s\n\nOriginal stack trace for %r:\n%s\n" % (self._message, self._op.name, "\n".join("  " + line for line in origin.split("\n")))


_classes = [None]
OK = 0


def _define():
    names = ("Cancelled Unknown InvalidArgument DeadlineExceeded NotFound AlreadyExists PermissionDenied ResourceExhausted "
             "FailedPrecondition Aborted OutOfRange Unimplemented Internal Unavailable DataLoss Unauthenticated").split()
    for code, name in enumerate(names, 1):
        def init(self, node_def, op, message, *args, _code=code):
            OpError.__init__(self, node_def, op, message, _code, *args)
        cls = type(name + "Error", (OpError,), {"__init__": init, "__module__": __name__, "__doc__": "Code %d." % code})
        globals()[cls.__name__] = cls
        globals()["".join("_" + c if c.isupper() and i else c for i, c in enumerate(name)).upper()] = code
        _classes.append(cls)


_define()


class OperatorNotAllowedInGraphError(TypeError):
    """A Python operation that a traced function can't do with a symbolic tensor."""
