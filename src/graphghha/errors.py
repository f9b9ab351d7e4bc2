"""The one error tree. Each class carries the exit code of the CLI and the status of the HTTP API.

GraphGHHAError            exit 1   500
  ConfigError             exit 2   422   a setting is unknown or impossible
  DataError               exit 3   400   a source cannot be read
    SchemaError                          columns, shapes, dtypes or units do not fit
    LeakError                            test data was seen before the test
  GraphError              exit 4   422   an edge breaks the sensor/controller/actuator rules
  CheckpointError         exit 5   409   weights do not fit this graph or config
  EngineError             exit 6   503   backend or extra missing, or scores not finite
    DivergedError                        training came to a loss that is no number
  NotFoundError           exit 7   404   no such node, case, plant or alarm
  ConflictError           exit 8   409   it is not in the state the request assumes
  JournalError            exit 9   507   the journal cannot be written or read

A message says where, what, and what instead. The user's mistake raises one of these; the programmer's
mistake is an `assert`.
"""

from typing import ClassVar


class GraphGHHAError(Exception):
    """Any error this package raises on purpose."""

    exit_code: ClassVar[int] = 1
    http_status: ClassVar[int] = 500


class ConfigError(GraphGHHAError, ValueError):
    """A setting is unknown or impossible."""

    exit_code = 2
    http_status = 422


class DataError(GraphGHHAError, ValueError):
    """A source cannot be read, or holds values that cannot be used."""

    exit_code = 3
    http_status = 400


class SchemaError(DataError):
    """Columns, shapes, dtypes or units do not fit."""


class LeakError(DataError):
    """Test data, or something fitted on it, was seen before the test."""


class GraphError(GraphGHHAError, ValueError):
    """A node or edge breaks the rules of a cyber-physical graph."""

    exit_code = 4
    http_status = 422


class CheckpointError(GraphGHHAError):
    """Weights do not fit this graph or config."""

    exit_code = 5
    http_status = 409


class EngineError(GraphGHHAError):
    """A backend or an extra is missing, or scores are not finite."""

    exit_code = 6
    http_status = 503


class DivergedError(EngineError):
    """Training came to a loss that is no number."""

    def __init__(self, step: int) -> None:
        super().__init__(
            f"training: the loss is no number at step {step}; a lower learning rate, fp32, or the normalised global "
            "branch keep it finite"
        )
        self.step = step


class NotFoundError(GraphGHHAError, LookupError):
    """No such node, case, plant or alarm."""

    exit_code = 7
    http_status = 404


class ConflictError(GraphGHHAError):
    """What is asked for does not fit the state things are in by now."""

    exit_code = 8
    http_status = 409


class JournalError(GraphGHHAError):
    """The journal cannot be written or read."""

    exit_code = 9
    http_status = 507
