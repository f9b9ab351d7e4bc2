"""An untrained model of the small template: right in every shape, silly in every score."""

import numpy as np
import torch

from builders import loop_template
from graphghha.engine import Engine, FrozenModel
from graphghha.models import Calibration, Model, Thresholds
from graphghha.nn import ADU
from graphghha.plants import Signal
from graphghha.windows import (
    FEATURE_NAMES,
    RECENT,
    Expectation,
    FeatureNorm,
    Fingerprint,
    Preprocessing,
    Span,
    fit_scaler,
    noise_floor,
    reach,
)

HIDDEN = 4


def small_model(seed: int = 0, layer: str = "graphghha") -> Model:
    template, rng = loop_template(), np.random.default_rng(seed)
    names = template.point_signals
    count, recent = len(template.points), len(RECENT.feature_names)
    shapes = {"W1": (count * recent, HIDDEN), "b1": (1, HIDDEN), "W2": (HIDDEN, HIDDEN), "b2": (1, HIDDEN)}
    shapes |= {"W3": (HIDDEN, 2), "b3": (1, 2)}
    weights = {name: rng.normal(0, 0.3, (count, *shape)).astype(np.float32) for name, shape in shapes.items()}
    weights["W1"] *= np.repeat(reach(template), recent, axis=1)[..., None]
    signals = [Signal(name=name, meaning=name, unit="degC", low=0, high=50, noise=0.1) for name in names]
    values = rng.normal(20, 2, (500, count))
    scaler = fit_scaler(values, np.ones(values.shape, bool), names, signals, [Span("normal", 0, 500)])
    torch.manual_seed(seed)
    adu = ADU(template, in_features=len(FEATURE_NAMES), layer=layer, width=16, heads=2, layers=2)
    frozen = FrozenModel.from_adu(adu)
    features = rng.normal(0, 1, (template.num_nodes, len(FEATURE_NAMES))).astype(np.float32)
    answer = Engine(frozen, template, backend="torch").score(features)
    norm_shape = (count, len(FEATURE_NAMES))
    return Model(
        plant="loop",
        template=template,
        adu_config=adu.config.to_dict(),
        weights=dict(frozen.weights),
        preprocessing=Preprocessing(
            scaler,
            Expectation(weights, noise_floor([0.1] * count, np.array(scaler.scale))),
            FeatureNorm(np.zeros(norm_shape), np.ones(norm_shape)),
        ),
        calibration=Calibration(1.0, (0.0,) * 4, Fingerprint((), "")),
        thresholds=Thresholds(),
        known_answer={"features": features, "probabilities": answer},
        provenance={"seed": seed},
    )
