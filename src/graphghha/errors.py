"""The errors of this package. Each class has an exit code for the command line and a status for an HTTP API.

GraphGHHAError            exit 1   500
  ConfigError             exit 2   422   a setting is unknown or impossible
  DataError               exit 3   400   a source cannot be read
    SchemaError                          columns, shapes, dtypes or units do not fit
    LeakError                            test data was used before the test
  GraphError              exit 4   422   an edge breaks the sensor/controller/actuator rules
  CheckpointError         exit 5   409   weights do not fit this graph or config
  EngineError             exit 6   503   backend or extra missing, or scores not finite
    DivergedError                        the training loss is not finite
  NotFoundError           exit 7   404   no such node, case, plant or alarm
  ConflictError           exit 8   409   the object is not in the state that the request assumes
  JournalError            exit 9   507   the journal cannot be written or read
  AccessError             exit 10  403   the role, the site or the origin does not allow it
    LoginError                     401   nobody is logged in, or name and password are wrong
    BusyError                      429   too many requests or attempts
    NoMonitorError                 503   nobody carries out commands

A message says where the problem is, what it is, and what to do instead. A mistake of the user raises one of these
errors; a mistake of the programmer is an `assert`.
"""

from typing import ClassVar


class GraphGHHAError(Exception):
    """Base class of every error that this package raises on purpose."""

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
    """Test data, or something fitted on it, was used before the test."""


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
    """The training loss is not finite."""

    def __init__(self, step: int) -> None:
        super().__init__(
            f"training: the loss is not finite at step {step}; use a lower learning rate, fp32, or the normalized "
            "global branch"
        )
        self.step = step


class NotFoundError(GraphGHHAError, LookupError):
    """No such node, case, plant or alarm."""

    exit_code = 7
    http_status = 404


class ConflictError(GraphGHHAError):
    """The request assumes a state that no longer holds."""

    exit_code = 8
    http_status = 409


class JournalError(GraphGHHAError):
    """The journal cannot be written or read."""

    exit_code = 9
    http_status = 507


class AccessError(GraphGHHAError):
    """The role, the site or the origin of a request does not allow it; `needs` is the role that would."""

    exit_code = 10
    http_status = 403

    def __init__(self, message: str, needs: str | None = None, retry_after_s: int | None = None) -> None:
        super().__init__(message)
        self.needs, self.retry_after_s = needs, retry_after_s


class LoginError(AccessError):
    """Nobody is logged in, or name and password are wrong."""

    http_status = 401


class BusyError(AccessError):
    """Too many requests or attempts."""

    http_status = 429


class NoMonitorError(AccessError):
    """Nobody carries out commands."""

    http_status = 503
