"""What a site is watched with: a model on the site's graph, its rules, and witnesses for evidence."""

from collections.abc import Callable
from dataclasses import dataclass

from graphghha.alarms import AlarmRule, GroupRule
from graphghha.graph import CpsGraph
from graphghha.monitor.evidence import Witness
from graphghha.monitor.pipeline import Pipeline, Scorer
from graphghha.plants import Plant


@dataclass(frozen=True, kw_only=True, slots=True)
class Detector:
    """Handed in ready-made: the monitor neither loads models nor knows an engine."""

    model: str  # what it is called in the journal: name and hash
    plant: Plant
    graph: CpsGraph
    make_scorer: Callable[[], Scorer]  # a fresh one, its windows empty, or an error that says why not
    rule: AlarmRule
    group_rule: GroupRule
    witnesses: tuple[Witness, ...] = ()
    history_rows: int = 0  # rows that rebuild the scorer's windows to the last bit

    @property
    def points(self) -> tuple[str, ...]:
        """Names of the site's columns: the nodes that carry a signal, in graph order."""
        return self.graph.points

    def pipeline(self) -> Pipeline:
        return Pipeline(self.make_scorer(), self.graph, self.rule, self.group_rule)
