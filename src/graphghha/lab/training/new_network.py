"""A network with random weights, before it is trained."""

from typing import Any

import torch

from graphghha.graph import CpsGraph
from graphghha.models.weights import check_network
from graphghha.nn import ADU


def new_network(template: CpsGraph, seed: int, **settings: Any) -> ADU:
    """Return an ADU drawn from the seed, without changing torch's own random state.

    An error says what is wrong with the settings, or that the network could not be stored in a model directory.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        adu = ADU(template, **settings)
    weights = {name: weight.detach().float().numpy() for name, weight in adu.state_dict().items()}
    check_network(adu.config.to_dict(), weights, len(set(template.roles)))
    return adu
