"""What the probability of an incident means, and what it becomes at another rate of events. Pure."""

import math
from dataclasses import dataclass

HIGHEST = 0.9995  # incidents keep three digits: a probability of 1 may be anything from here on
NEAR_CERTAIN = 0.995  # from here on two digits would round to 1.00
LEAST_DISPOSED = 5  # incidents that a rate can be estimated from


@dataclass(frozen=True, kw_only=True, slots=True)
class SiteRate:
    """How often a zone of a site has real events, from what its operators recorded about incidents."""

    days_per_event: float  # of one zone
    disposed: int  # incidents that the rate is estimated from


def restate(probability: float, days_per_event: float, calibrated_days: float) -> float:
    """Return a probability, calibrated for one event per zone in `calibrated_days`, for another rate of events.

    Bayes' rule in log-odds. It assumes that events are rare and as long and as clear as those of the calibration.
    """
    if not (days_per_event > 0 and calibrated_days > 0):
        raise ValueError(f"days per event must be positive, got {days_per_event} and {calibrated_days}")
    p = min(max(probability, 1.0 - HIGHEST), HIGHEST)
    log_odds = math.log(p / (1.0 - p)) + math.log(calibrated_days / days_per_event)
    return 1.0 / (1.0 + math.exp(-log_odds))


def estimate_rate(real: int, disposed: int, incidents: int, zone_days: float) -> SiteRate | None:
    """Return the rate of real events; None while too few incidents are disposed.

    Incidents without a disposition count as if they were like the others. Half an event is added, so that a site
    without any event so far does not seem to have none for ever.
    """
    if disposed < LEAST_DISPOSED or 2 * disposed < incidents or zone_days <= 0:
        return None
    events = (real + 0.5) * incidents / disposed
    return SiteRate(days_per_event=zone_days / events, disposed=disposed)


def likelihood(probability: float) -> str:
    """Return a probability for people; it is never rounded to certainty."""
    if probability >= NEAR_CERTAIN:
        return "p > 0.99"
    return f"p = {probability:.2f}" if probability >= 0.005 else "p < 0.01"


def calibration_sentence(calibrated_days: float) -> str:
    """Return what a probability of an incident holds for."""
    return f"p is calibrated for one attack per zone in {_days(calibrated_days)}"


def tail_sentence() -> str:
    """Return what a probability means that comes from the tail of normal scores."""
    return (
        "p comes from the tail of the scores of normal operation, nine to one at the threshold: it is not the share of "
        "such incidents that are attacks"
    )


def class_sentence(class_is: str) -> str:
    """Return where the class of an incident comes from; empty if the model states it by itself."""
    return {
        "by_kind": "its class is the kind of the node: no attack on it was learned from",
        "by_label": "its class is the one that labels of attacks on this node state",
        "unknown": "it has no class: it is unlike the labelled attacks that were learned from",
    }.get(class_is, "")


def restated_sentence(probability: float, rate: SiteRate, calibrated_days: float) -> str:
    """Return the probability at a site's own rate of events, and what it assumes."""
    own = restate(probability, rate.days_per_event, calibrated_days)
    return (
        f"at this site's own rate, one event per zone in {_days(rate.days_per_event)}, {likelihood(own)}; this "
        f"assumes that the {rate.disposed} disposed incidents stand for all, and that events last as long as those "
        "it was taught"
    )


def _days(days: float) -> str:
    return f"{days:.0f} days" if days >= 1.5 else f"{days:.1f} days"
