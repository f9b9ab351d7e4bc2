"""Words that every room shares."""

# Index = label in training data and column of a score; the paper's section on the Attack Detection Unit.
CLASSES = ("normal", "actuator", "sensor", "controller")
BINARY_CLASSES = ("normal", "attack")
UNKNOWN = -1  # class of a node without fresh data: never shown as normal
