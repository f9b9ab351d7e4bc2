"""Ways to score a zone that are meant to withstand an attacker who holds some of its nodes.

e rows of a zone, n nodes, f features.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from graphghha.engine.zone_front_end import ZoneFrontEnd
from graphghha.lab.bench.detection.zone_statistics import witness_odds
from graphghha.windows.evidence import SPAN_NAMES

HIDDEN = -1e4  # the log-odds of a node that is unknown
MASKS, MASKED_SHARE = 12, 0.3
ROWS_AT_ONCE = 512
AVERAGED = 3  # judged rows: a quarter of an hour

View = tuple[ZoneFrontEnd, Tensor, Tensor]  # a front end, features [e n f] and which nodes are known [e n]


@dataclass(frozen=True)
class Views:
    """A zone as the commissioned model sees it, and with the levels of the base model."""

    commissioned: View
    shipped: View | None = None  # needed by a witness only
    shipped_offset: float = 0.0  # by how much quiet days score higher with the levels of the base model


# A defence returns the log-odds [e] of a zone. The suspects are the nodes that matter to an attacker: those he holds.
Defence = Callable[[Views, Sequence[int] | None], Tensor]


def zone_odds(front_end: ZoneFrontEnd, x: Tensor, known: Tensor) -> Tensor:
    """Return the log-odds [.. e] that a zone is attacked, those of its nodes averaged over the last rows.

    Features are [e n f]; `known` is [.. e n], since a defence may look at them with several sets of nodes hidden.
    """
    rows, seen = known.shape[-2], known.flatten(0, -2)
    every = x.expand(*known.shape[:-2], *x.shape).flatten(0, -3)
    parts = [
        front_end.node_odds(every[at : at + ROWS_AT_ONCE], seen[at : at + ROWS_AT_ONCE])
        for at in range(0, len(seen), ROWS_AT_ONCE)
    ]
    odds, count = torch.where(known, torch.cat(parts).view(known.shape), 0.0), known.float()
    total, number = odds, count
    for back in range(1, AVERAGED):
        earlier, before = (torch.nn.functional.pad(each, (0, 0, back, 0))[..., :rows, :] for each in (odds, count))
        total, number = total + earlier, number + before
    return torch.where(known, total / number.clamp_min(1), HIDDEN).logsumexp(dim=-1)


def undefended(views: Views, suspects: Sequence[int] | None = None) -> Tensor:
    """Return the score of the model as it is."""
    return zone_odds(*views.commissioned)


def leave_one_out(views: Views, suspects: Sequence[int] | None = None) -> Tensor:
    """Return the largest score with any one node hidden: a false reading then cannot hide its zone."""
    nodes = views.commissioned[2].shape[-1]
    masks = 1.0 - torch.eye(nodes)[list(range(nodes) if suspects is None else suspects)]
    return _masked(views, torch.cat([torch.ones(1, nodes), masks]).bool()).amax(dim=0)


def random_masks(views: Views, suspects: Sequence[int] | None = None) -> Tensor:
    """Return the median score over random subsets of the nodes: above a threshold if most of them are."""
    generator = torch.Generator().manual_seed(0)
    masks = torch.rand((MASKS, views.commissioned[2].shape[-1]), generator=generator) > MASKED_SHARE
    return _masked(views, masks).quantile(0.5, dim=0)


def shipped_witness(views: Views, suspects: Sequence[int] | None = None) -> Tensor:
    """Return the larger score of the commissioned model and of the base model beside it."""
    assert views.shipped is not None
    return torch.maximum(zone_odds(*views.commissioned), zone_odds(*views.shipped) - views.shipped_offset)


def evidence_witness(views: Views, suspects: Sequence[int] | None = None) -> Tensor:
    """Return the larger one of the model's score and of the largest evidence, which no network can be talked out of."""
    _, x, known = views.commissioned
    size = torch.where(known, x[..., : len(SPAN_NAMES)].abs().amax(dim=-1), 0.0).amax(dim=-1)  # log(1 + 4 units)
    return torch.maximum(zone_odds(*views.commissioned), witness_odds(size))


def _masked(views: Views, masks: Tensor) -> Tensor:
    """Return the log-odds [masks e] of a zone with some nodes hidden."""
    front_end, x, known = views.commissioned
    return zone_odds(front_end, x, known & masks[:, None])


DEFENCES: Mapping[str, Defence] = {
    "none": undefended,
    "leave_one_out": leave_one_out,
    "random_masks": random_masks,
    "shipped_witness": shipped_witness,
    "evidence_witness": evidence_witness,
}
