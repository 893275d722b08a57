"""Enumerations of the API. Imported when first asked for: the enum module is not free."""
import enum


class UnconnectedGradients(enum.Enum):
    """What GradientTape.gradient gives for a source that the target does not depend on."""
    NONE, ZERO = "none", "zero"


class VariableSynchronization(enum.Enum):
    """How the copies of a variable on several devices are kept together."""
    AUTO, NONE, ON_WRITE, ON_READ = range(4)


class VariableAggregationV1(enum.Enum):
    """How updates of a variable from several devices are combined: what a variable says that was told nothing."""
    NONE, SUM, MEAN, ONLY_FIRST_REPLICA = range(4)
    ONLY_FIRST_TOWER = 3

    def __hash__(self):
        return hash(self.value)

    def __eq__(self, other):
        return isinstance(other, (VariableAggregationV1, VariableAggregationV2)) and self.value == other.value


class VariableAggregationV2(enum.Enum):
    """How updates of a variable from several devices are combined."""
    NONE, SUM, MEAN, ONLY_FIRST_REPLICA = range(4)

    __hash__, __eq__ = VariableAggregationV1.__hash__, VariableAggregationV1.__eq__


VariableAggregationV1.__name__ = "VariableAggregation"
VariableAggregation = VariableAggregationV2


class Algorithm(enum.IntEnum):
    """The algorithms of random numbers."""
    PHILOX, THREEFRY, AUTO_SELECT = range(1, 4)

    __str__ = enum.Enum.__str__
