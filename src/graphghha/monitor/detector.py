"""What a site is monitored with: a model on the site's graph, its alarm rules, and providers of evidence."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from graphghha.alarms import AlarmRule, GroupRule
from graphghha.classes import CLASSES
from graphghha.graph import CpsGraph
from graphghha.monitor.evidence import EvidenceProvider
from graphghha.monitor.pipeline import Pipeline, Scorer
from graphghha.plants import Plant


@dataclass(frozen=True, kw_only=True, slots=True)
class ZoneJudgement:
    """What the scores of a model that judges zones stand for."""

    set_share: float  # suspects are the nodes with at least this share of a zone's probability
    coverage: float  # how often they include the attacked node, for attacks of the kinds that were taught
    days_per_attack: float  # of a zone: the rate of attacks for which probabilities are calibrated


@dataclass(frozen=True, kw_only=True, slots=True)
class NormalJudgement:
    """What the scores of a model stand for that learned from the normal data of its plant."""

    p_is: str  # `tail`: a probability comes from the tail of normal scores
    labelled: Mapping[str, str] = field(default_factory=dict)  # by node: the class that labels of attacks state for it

    def marks(self, node: str, attack_class: str) -> dict[str, str]:
        """Return where probability and class of an incident of a node come from."""
        if attack_class not in CLASSES:
            return {"p_is": self.p_is, "class_is": "unknown"}
        return {"p_is": self.p_is, "class_is": "by_label" if self.labelled.get(node) == attack_class else "by_kind"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Detector:
    """A detector that is ready to use: the monitor neither loads models nor depends on an engine."""

    model: str  # its name in the journal: directory name and hash
    plant: Plant
    graph: CpsGraph
    make_scorer: Callable[[], Scorer]  # returns a new scorer with empty windows, or raises
    rule: AlarmRule
    group_rule: GroupRule
    evidence_providers: tuple[EvidenceProvider, ...] = ()
    history_rows: int = 0  # rows that rebuild the scorer's windows to the last bit
    zone_judgement: ZoneJudgement | None = None  # of a model that judges zones
    normal_judgement: NormalJudgement | None = None  # of a model that learned from normal data
    absent_points: tuple[str, ...] = ()  # points that the site is known to lack
    signed_by: str | None = None  # id of the trusted key that signed the model, if one was asked for
    commissioning: Mapping[str, Any] | None = None  # record of how the model was adapted to the site, if it was
    is_own: bool = False  # whether this monitor itself adapted it
    further_numbers: Mapping[str, Any] = field(default_factory=dict)  # that decide about alarms, besides the rules

    @property
    def numbers(self) -> dict[str, Any]:
        """Return everything that decides when an alarm is raised and announced, by name."""
        rules = {"rule": asdict(self.rule), "group": asdict(self.group_rule)}
        flat = {f"{table}.{name}": value for table, values in rules.items() for name, value in values.items()}
        return {**flat, **self.further_numbers}

    @property
    def points(self) -> tuple[str, ...]:
        """Return the names of the site's columns: the nodes that carry a signal, in graph order."""
        return self.graph.points

    def pipeline(self) -> Pipeline:
        """Return a new pipeline with empty windows."""
        return Pipeline(self.make_scorer(), self.graph, self.rule, self.group_rule)
