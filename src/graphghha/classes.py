"""Class names and other constants that every package shares."""

# The position is the label in training data and the column of a score (the paper's section on the ADU).
CLASSES = ("normal", "actuator", "sensor", "controller")
BINARY_CLASSES = ("normal", "attack")
UNKNOWN = -1  # class of a node without fresh data: never shown as normal
UNCLASSIFIED = len(CLASSES)  # number of an attack whose score prefers none of the classes
CLASS_NAMES = (*CLASSES, "unclassified")
# Gates of GraphGHHA that are not learned, for ablations: the factors on the global and on the local branch.
FIXED_GATES = {"open": (1.0, 1.0), "global": (1.0, 0.0), "local": (0.0, 1.0)}
