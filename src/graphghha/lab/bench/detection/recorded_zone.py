"""One zone of a recorded building through the front end of a model, with gradients to its readings.

What the other zones read stays as it was recorded, since the medians over them do not depend on the zone itself.

R rows of the recording, T of a window, e of them judged, Z zones, S signals, n nodes of a zone, f features.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from graphghha.engine.zone_front_end import Averages, ComparedRows, ZoneFrontEnd, middle_of_three
from graphghha.graph import CpsGraph
from graphghha.models import Model
from graphghha.windows import Levels
from graphghha.windows.evidence import (
    CLIP,
    HISTORY,
    RELATIVE,
    Compared,
    Comparer,
    Layout,
    Predictors,
    Summaries,
    Summary,
)
from graphghha.windows.multiscale import DAY, HOUR, MINUTE, STEP_S
from graphghha.windows.peers import median_of_others

Floats = NDArray[np.floating]
EVERY = 5  # rows between two judged ones


def rows_of(seconds: int) -> int:
    """Return a span of time as rows."""
    return seconds // STEP_S


@dataclass(frozen=True)
class RecordedBuilding:
    """Readings of a building, as a model compares them."""

    model: Model
    graph: CpsGraph
    values: NDArray[np.float64]  # [R Z S] in SI, NaN where unknown

    @cached_property
    def compared(self) -> Compared:
        """All rows, compared with the expectation."""
        values = self.values.reshape(len(self.values), -1)
        return Comparer(self.graph, self.model.template, self.model.zone_preprocessing).push(
            values, np.isfinite(values)
        )

    @cached_property
    def residuals(self) -> NDArray[np.float32]:
        """Corrected residuals [R Z S]."""
        preprocessing = self.model.zone_preprocessing
        predictors = Predictors(preprocessing, self.model.template)(self.compared.recent)
        return preprocessing.levels.correct(self.compared.residuals, predictors)

    @cached_property
    def judged(self) -> NDArray[np.bool_]:
        """The rows that are judged [R]: every fifth one, once the longest average is full."""
        rows = np.arange(len(self.values))
        judged: NDArray[np.bool_] = (rows % EVERY == 0) & (rows >= HISTORY)
        return judged

    @cached_property
    def summary(self) -> Summary:
        """Averages at the judged rows."""
        zones, signals = self.values.shape[1:]
        return Summaries(zones, signals).push(self.residuals, self.compared, self.judged)

    @cached_property
    def front_end(self) -> ZoneFrontEnd:
        """The network, for features that are already made."""
        return ZoneFrontEnd(self.model)

    @cached_property
    def windows(self) -> tuple[Tensor, Tensor]:
        """Features [w*Z n f] of all zones at the judged rows, row after row, and which nodes are known."""
        layout = Layout(self.graph, self.model.template, self.model.zone_preprocessing)
        windows = layout.windows(self.summary, self.compared, self.judged, np.flatnonzero(self.judged))
        nodes = self.model.template.num_nodes
        features = windows.features.reshape(-1, nodes, windows.features.shape[-1])
        return torch.from_numpy(features), torch.from_numpy(windows.known.reshape(-1, nodes))

    @cached_property
    def recent_of_others(self) -> tuple[Floats, NDArray[np.bool_]]:
        """The recent means of the other zones [R Z S], and where there are any."""
        fresh = np.isfinite(self.values)
        lately = fresh.copy()
        for back in range(1, rows_of(5 * MINUTE)):
            lately[back:] |= fresh[:-back]
        return median_of_others(self.compared.recent, lately)

    @cached_property
    def spans_of_others(self) -> Floats:
        """The averages of the other zones in units of what is usual there, at the judged rows [w Z S m]."""
        units = np.clip(self.summary.spans / self.model.zone_preprocessing.levels.spans, -CLIP, CLIP)
        fresh = self.compared.fresh[self.judged]
        return np.stack([median_of_others(units[..., at], fresh)[0] for at in RELATIVE], axis=-1)


class RecordedZone:
    """The features of one zone over a window, as a function of its readings in this window."""

    def __init__(self, building: RecordedBuilding, zone: int, window: slice, *, every: int = EVERY) -> None:
        """The rows before the window must fill the longest averages; `every` is a multiple of EVERY."""
        model, start, stop = building.model, window.start, window.stop
        levels = model.zone_preprocessing.levels
        own = _of_zone(levels, zone) if levels.num_zones > 1 else levels
        self.front_end = ZoneFrontEnd(replace(model, preprocessing=model.zone_preprocessing.with_levels(own)))
        self.front_end.adu.train()  # the form with cheap gradients; there is no dropout
        for weight in self.front_end.parameters():
            weight.requires_grad_(False)
        before, whole = slice(start - HISTORY, start), slice(start - HISTORY, stop)
        self._before = torch.from_numpy(building.values[before, zone])
        self._residuals = torch.from_numpy(building.residuals[before, zone]).double()
        self._gaps = torch.from_numpy(building.compared.gaps[before, zone]).double()
        self._has_gaps = torch.from_numpy(building.compared.has_others[before, zone])
        self.readings = torch.from_numpy(building.values[window, zone].copy())  # [T S] as recorded
        self._fresh = torch.from_numpy(np.isfinite(building.values[whole, zone]))
        self._others = [torch.from_numpy(each[whole, zone]) for each in building.recent_of_others]
        rows = np.flatnonzero(building.judged)
        chosen = (rows >= start) & (rows < stop) & ((rows - rows[0]) % every == 0)
        self.rows = torch.from_numpy(rows[chosen] - start)  # [e] rows of the window that are judged
        self._spans_of_others = torch.from_numpy(building.spans_of_others[chosen, zone])

    def features(self, readings: Tensor) -> tuple[Tensor, Tensor]:
        """Return features [e n f] for readings [T S] in SI, double, and which nodes are known [e n]."""
        scaled, compared = self._compare(readings)
        at, fresh = self.rows + HISTORY, self._fresh
        residuals = torch.cat([self._residuals, compared.residuals[:, 0].double()])
        residuals = torch.where(fresh, residuals, 0.0)
        gaps = torch.cat([self._gaps, compared.gaps[:, 0].double()])
        has_gaps = torch.cat([self._has_gaps, compared.has_others[:, 0]])
        steps = torch.nn.functional.pad((scaled[1:] - scaled[:-1]).abs(), (0, 0, 1, 0))
        both = fresh & torch.cat([torch.zeros_like(fresh[:1]), fresh[:-1]])
        lags = torch.stack([residuals[at - rows_of(back * MINUTE)] for back in (0, 5, 10)], dim=-1)
        hour, four, day = rows_of(HOUR), rows_of(4 * HOUR), rows_of(DAY)
        averages = Averages(
            spans=torch.stack(
                [lags[..., 0], middle_of_three(lags), *(trailing(residuals, fresh, at, n) for n in (hour, four, day))],
                dim=-1,
            ),
            sizes=torch.stack([trailing(residuals.abs(), fresh, at, n) for n in (hour, day)], dim=-1),
            steps=trailing(steps, both, at, hour)[..., None],
            gaps=torch.stack([gaps[at], trailing(gaps, has_gaps, at, hour)], dim=-1),
        )
        one_zone = Averages(*(each[:, None].float() for each in averages))
        chosen = ComparedRows(*(each[self.rows] for each in compared))
        peers = self._spans_of_others[:, None]
        x, known = self.front_end.features(one_zone, chosen, fresh[at][:, None], peers)
        return x[:, 0], known[:, 0]

    def expected(self, readings: Tensor) -> Tensor:
        """Return what the model expects each signal to read, [T S] in SI, given the others."""
        return self._expect(self._scaled(readings), torch.arange(HISTORY, len(self._fresh)))

    def usual_error(self) -> Tensor:
        """Return by how much readings differed from what was expected just before the window, [T S] in SI."""
        at = torch.arange(HISTORY - len(self.readings), HISTORY)
        return (self._before[at] - self._expect(self._scaled(self.readings), at)).nan_to_num()

    def _scaled(self, readings: Tensor) -> Tensor:
        return self.front_end.scaled(torch.cat([self._before, readings]), self._fresh)

    def _means(self, scaled: Tensor, at: Tensor) -> Tensor:
        """Return recent means [a S 5] of scaled values [HISTORY+T S] at some rows, and the share of missing rows."""
        spans = [trailing(scaled, self._fresh, at, rows_of(minutes * MINUTE)) for minutes in (5, 10, 20, 60)]
        count = trailing(self._fresh.float(), torch.ones_like(self._fresh), at, rows_of(5 * MINUTE))
        return torch.stack([*spans, 1.0 - count], dim=-1).float()

    def _expect(self, scaled: Tensor, at: Tensor) -> Tensor:
        peers, has = (each[at] for each in self._others)
        inputs = torch.cat([self._means(scaled, at), peers[..., None], has[..., None].float()], dim=-1)
        mean, _ = self.front_end.expect(inputs[:, None])
        return mean[:, 0].double() * self.front_end.scale + self.front_end.center

    def _compare(self, readings: Tensor) -> tuple[Tensor, ComparedRows]:
        scaled, at = self._scaled(readings), torch.arange(HISTORY, len(self._fresh))
        peers, has = (each[at][:, None] for each in self._others)
        return scaled, self.front_end.compare(self._means(scaled, at)[:, None], self._fresh[at][:, None], (peers, has))


def trailing(x: Tensor, known: Tensor, at: Tensor, width: int) -> Tensor:
    """Return means over the known ones of `width` rows that end with each row `at`; 0 where there are none."""
    total = torch.nn.functional.pad(torch.where(known, x, 0.0).double().cumsum(dim=0), (0, 0, 1, 0))
    count = torch.nn.functional.pad(known.double().cumsum(dim=0), (0, 0, 1, 0))
    first, end = (at + 1 - width).clamp_min(0), at + 1
    return (total[end] - total[first]) / (count[end] - count[first]).clamp_min(1)


def _of_zone(levels: Levels, zone: int) -> Levels:
    return Levels.from_arrays({name: array[zone : zone + 1] for name, array in levels.to_arrays().items()})
