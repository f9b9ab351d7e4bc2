"""Untrained models of the small template: right in every shape, silly in every score."""

import numpy as np
import torch

from builders import loop_template
from graphghha.engine import Engine, FrozenModel
from graphghha.graph import CpsGraph
from graphghha.models import Calibration, Limits, Model, Thresholds
from graphghha.nn import ADU
from graphghha.plants import Plant, Signal
from graphghha.windows import (
    FEATURE_NAMES,
    RECENT,
    EvidencePreprocessing,
    Expectation,
    FeatureNorm,
    Fingerprint,
    Levels,
    Preprocessing,
    Span,
    ZoneExpectation,
    fit_scaler,
    noise_floor,
    reach,
)
from graphghha.windows.evidence import FEATURES, switch_signals
from graphghha.windows.zone_expectation import CHANNELS, input_mask

HIDDEN = 4
LIMITS = Limits(
    floor=3.5,
    cap=8.0,
    shipped=4.0,
    budget_per_day=0.1,
    set_share=0.05,
    coverage=0.9,
    false_low=0.2,
    false_high=0.8,
)


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


def small_levels(signals: int, predictors: int) -> Levels:
    """Levels that leave residuals as they are."""

    def each(*values: float) -> np.ndarray:
        return np.tile(np.array(values, np.float32), (1, signals, 1))

    return Levels(
        slopes=np.zeros((1, signals, predictors), np.float32),
        bounds=each(0, 0),
        width=np.ones((1, signals), np.float32),
        spans=each(1, 1, 1, 1, 1),
        sizes=each(1, 1),
        restlessness=each(-4, -2, 0),
        gap=each(0, 1),
        heard=np.ones((1, signals), bool),
    )


def small_zone_preprocessing(seed: int = 0, *, scale: float = 0.3) -> EvidencePreprocessing:
    """What turns readings around 20 into features of the evidence kind; `scale` 0 expects 20 always."""
    template, rng = loop_template(), np.random.default_rng(seed)
    names = template.point_signals
    count = len(names)
    units = {"valve": "fraction"}
    signals = [
        Signal(name=name, meaning=name, unit=units.get(name, "degC"), low=0, high=50, noise=0.1) for name in names
    ]
    values = np.random.default_rng(7).normal(20, 2, (500, count))
    scaler = fit_scaler(values, np.ones(values.shape, bool), names, signals, [Span("normal", 0, 500)])
    return zone_preprocessing(template, signals, scaler, np.array([[0.0, 50.0]] * count), rng, scale)


def zone_preprocessing(template, signals, scaler, ranges, rng, scale) -> EvidencePreprocessing:
    """Random expectations, and levels that leave residuals as they are."""
    count = len(signals)
    mask = input_mask(template)[..., None]
    shapes = {"W0": (count * CHANNELS, 2), "W1": (count * CHANNELS, HIDDEN), "b1": (1, HIDDEN), "W2": (HIDDEN, HIDDEN)}
    shapes |= {"b2": (1, HIDDEN), "W3": (HIDDEN, 2), "b3": (1, 2)}
    weights = {name: rng.normal(0, 1, (count, *shape)).astype(np.float32) * scale for name, shape in shapes.items()}
    for name in ("W0", "W1"):
        weights[name] = weights[name] * mask
    switches = switch_signals(signals)
    return EvidencePreprocessing(
        scaler,
        ZoneExpectation(weights, np.full(count, 0.01, np.float32)),
        small_levels(count, 1 + count + len(switches)),
        switches,
        ranges,
    )


def small_zone_model(seed: int = 0, *, scale: float = 0.3) -> Model:
    return _zone_model("loop", loop_template(), small_zone_preprocessing(seed, scale=scale), seed)


def _zone_model(plant: str, template: CpsGraph, preprocessing: EvidencePreprocessing, seed: int) -> Model:
    torch.manual_seed(seed)
    adu = ADU(template, in_features=len(FEATURES), head="binary", width=16, heads=2, layers=2)
    frozen = FrozenModel.from_adu(adu)
    features = np.random.default_rng(seed).normal(0, 1, (template.num_nodes, len(FEATURES))).astype(np.float32)
    return Model(
        plant=plant,
        template=template,
        adu_config=adu.config.to_dict(),
        weights=dict(frozen.weights),
        preprocessing=preprocessing,
        calibration=Calibration(1.0, (0.0, 0.0), Fingerprint((), "")),
        thresholds=Thresholds(),
        known_answer={
            "features": features,
            "probabilities": Engine(frozen, template, backend="torch").score(features),
        },
        provenance={"seed": seed},
        limits=LIMITS,
    )


def untrained_zone_model(plant: Plant, seed: int = 0) -> Model:
    """A model of a whole plant that judges zones, with random weights."""
    template, rng = plant.template, np.random.default_rng(seed)
    by_name = {signal.name: signal for signal in plant.signals}
    signals = [by_name[name] for name in template.point_signals]
    ranges = np.array([[signal.low, signal.high] for signal in signals], np.float64)
    values = rng.uniform(*ranges.T, (200, len(signals)))
    scaler = fit_scaler(values, np.ones(values.shape, bool), template.point_signals, signals, [Span("normal", 0, 200)])
    return _zone_model(plant.name, template, zone_preprocessing(template, signals, scaler, ranges, rng, 0.05), seed)
