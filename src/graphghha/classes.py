"""Words that every room shares."""

# Index = label in training data and column of a score; the paper's section on the Attack Detection Unit.
CLASSES = ("normal", "actuator", "sensor", "controller")
BINARY_CLASSES = ("normal", "attack")
UNKNOWN = -1  # class of a node without fresh data: never shown as normal
# Gates of GraphGHHA that are not learned, for ablations: what the global and the local branch are multiplied with.
FIXED_GATES = {"open": (1.0, 1.0), "global": (1.0, 0.0), "local": (0.0, 1.0)}
