"""What a conversion is asked to do; its text is part of the converted code."""
import ast
import enum

from thalweg.autograph.syntax import at_line_of


class Feature(enum.Enum):
    """Conversions that are off unless asked for."""
    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"

    @classmethod
    def all(cls):
        """Every feature."""
        return tuple(cls.__members__.values())

    @classmethod
    def all_but(cls, exclude):
        """Every feature except some."""
        if not isinstance(exclude, (list, tuple, set)):
            exclude = (exclude,)
        return tuple(set(cls.all()) - set(exclude) - {cls.ALL})


class ConversionOptions:
    """The settings of one conversion."""

    def __init__(self, recursive=False, user_requested=False, internal_convert_user_code=True, optional_features=Feature.ALL):
        if optional_features is None:
            optional_features = ()
        elif isinstance(optional_features, Feature):
            optional_features = (optional_features,)
        for feature in optional_features:
            if not isinstance(feature, Feature):
                raise TypeError("optional features must be of tf.autograph.experimental.Feature, got %r" % (feature,))
        self.recursive = recursive
        self.user_requested = user_requested
        self.internal_convert_user_code = internal_convert_user_code
        self.optional_features = frozenset(optional_features)

    def as_tuple(self):
        """What two equal settings share."""
        return self.recursive, self.user_requested, self.internal_convert_user_code, self.optional_features

    def __eq__(self, other):
        return isinstance(other, ConversionOptions) and self.as_tuple() == other.as_tuple()

    def __hash__(self):
        return hash(self.as_tuple())

    def uses(self, feature):
        """Whether an optional feature is on."""
        return Feature.ALL in self.optional_features or Feature[feature] in self.optional_features

    def inner(self):
        """The settings of the functions that a converted function defines or calls."""
        return ConversionOptions(self.recursive, False, self.recursive, tuple(self.optional_features))

    def as_expression(self, origin):
        """The settings as the converted code writes them."""
        if self == STANDARD:
            text = "ag__.STD"
        else:
            names = ["ag__.Feature." + f.name for f in sorted(self.optional_features, key=lambda f: f.name)]
            features = names[0] if len(names) == 1 else "(%s)" % ", ".join(names)
            text = ("ag__.ConversionOptions(recursive=%r, user_requested=%r, optional_features=%s, internal_convert_user_code=%r)") % (
                self.recursive, self.user_requested, features, self.internal_convert_user_code)
        return at_line_of(ast.parse(text, mode="eval").body, origin)


STANDARD = ConversionOptions(recursive=True, user_requested=False, internal_convert_user_code=True, optional_features=None)
