"""The trials by name, and how `scripts/bench reliability` runs them."""

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from faults.announce import try_announcing
from faults.belief import try_belief
from faults.blind import try_blindness
from faults.clocks import try_backlog, try_clocks
from faults.copies import try_copies
from faults.damage import try_damage
from faults.disk import try_disks
from faults.disorder import try_disorder
from faults.effort import Effort
from faults.figures import Figure, Progress
from faults.flood import try_flood
from faults.full_disk import try_full_disk
from faults.fuzz import try_fuzz
from faults.held import try_held
from faults.hostile import try_hostile
from faults.kernel import try_kernel
from faults.kill import try_kills
from faults.large_journal import try_large_journal
from faults.live import try_cuts, try_restarts
from faults.outage import try_outages
from faults.own_clock import try_own_clock
from faults.process import try_process
from faults.recordings import try_recordings
from faults.rig import Rig
from faults.siem import try_siem
from faults.sinks import try_sinks
from faults.soak import try_soak
from faults.states import try_states
from faults.strangers import try_strangers
from faults.wire import try_wire
from graphghha.errors import GraphGHHAError, NotFoundError
from graphghha.lab.bench.results import make_result

Trial = Callable[[Path, Rig, Effort, Progress], list[Figure]]
TRIALS: dict[str, Trial] = {
    "kill": try_kills,
    "states": try_states,
    "outage": try_outages,
    "clocks": try_clocks,
    "backlog": try_backlog,
    "cuts": try_cuts,
    "restarts": try_restarts,
    "own_clock": try_own_clock,
    "disorder": try_disorder,
    "fuzz": try_fuzz,
    "hostile": try_hostile,
    "wire": try_wire,
    "recordings": try_recordings,
    "process": try_process,
    "strangers": try_strangers,
    "copies": try_copies,
    "belief": try_belief,
    "announce": try_announcing,
    "blind": try_blindness,
    "held": try_held,
    "disk": try_disks,
    "full_disk": try_full_disk,
    "damage": try_damage,
    "large_journal": try_large_journal,
    "flood": try_flood,
    "sinks": try_sinks,
    "siem": try_siem,
    "kernel": try_kernel,
    "soak": try_soak,
}


def run(
    rig: Rig, effort: Effort, *, only: Sequence[str] = (), progress: Progress = lambda line: None
) -> dict[str, Any]:
    """Run the trials, each in a folder of its own. A trial that raises an error gives a figure that does not hold."""
    if unknown := [name for name in only if name not in TRIALS]:
        raise NotFoundError(f"bench reliability: unknown trial {unknown[0]!r}; choose from {', '.join(TRIALS)}")
    rows: list[dict[str, Any]] = []
    with TemporaryDirectory(prefix="graphghha-reliability-") as folder:
        for name in only or TRIALS:
            try:
                figures = TRIALS[name](Path(folder) / name, rig, effort, progress)
            except GraphGHHAError as exc:
                figures = [Figure(name, "trial completed", "yes", f"stopped: {exc}", False)]
            rows += [{"trial": name, **figure.to_dict()} for figure in figures]
    config = {name: _jsonable(getattr(effort, name)) for name in effort.__dataclass_fields__}
    return make_result("reliability", config, rows)


def _jsonable(value: Any) -> Any:
    """Return the value as JSON reads it back, so that stored and new settings compare equal."""
    return list(value) if isinstance(value, tuple) else value


def merge_earlier(result: dict[str, Any], earlier: dict[str, Any]) -> dict[str, Any]:
    """Return `result` with the earlier run's rows of all other trials, if both ran with the same effort.

    An effort that the earlier run did not know yet belongs to a trial that it did not have.
    """
    if any(result["config"].get(name) != value for name, value in earlier["config"].items()):
        return result
    measured = {row["trial"] for row in result["rows"]}
    rows = result["rows"] + [row for row in earlier["rows"] if row["trial"] not in measured]
    return {**result, "rows": sorted(rows, key=lambda row: list(TRIALS).index(row["trial"]))}
