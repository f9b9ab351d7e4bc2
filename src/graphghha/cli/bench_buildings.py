"""`graphghha bench shift | commissioning | attacker | whether-where | diets | effects`: models in other buildings."""

from typing import TYPE_CHECKING, Any

import click

from graphghha.cli._benchmark import benchmark

if TYPE_CHECKING:
    from graphghha.lab.bench.experiments import Scope

ROOM = ("RM_TEMP", "FCU_RAT")  # sensors of the fan-coil plant that show the temperature of the room


@benchmark("model")
@click.option("--condition", "conditions", multiple=True, metavar="NAME", help="Judge this condition only; repeatable.")
@click.option(
    "--commission-days", default=0, show_default=True, type=click.IntRange(0, 90), help="Also judge it commissioned."
)
@click.option(
    "--pause-days", default=0, show_default=True, type=click.IntRange(0, 300), help="From commissioning to judging."
)
def shift(scope: "Scope", conditions: tuple[str, ...], commission_days: int, pause_days: int) -> dict[str, Any]:
    """A model in buildings unlike its training."""
    from dataclasses import asdict, replace

    from graphghha.lab.bench.results import make_result
    from graphghha.lab.evaluation import ShiftConfig, shift_rows, without_nan
    from graphghha.models import load_model

    config = ShiftConfig(seed=scope.seed, conditions=conditions, commission_days=commission_days, pause_days=pause_days)
    if scope.quick:
        config = replace(config, days=1, zones=3)
    rows = shift_rows(load_model(scope.model), config, progress=scope.progress)
    settings = {**asdict(config), "model": scope.model.name}
    return make_result("shift", settings, without_nan(rows))


@benchmark("zone-model")
@click.option("--trial", "trials", multiple=True, metavar="NAME", help="Run this trial only; repeatable.")
@click.option(
    "--condition",
    "conditions",
    multiple=True,
    metavar="NAME",
    help="Buildings of this condition instead of random ones; repeatable.",
)
def commissioning(scope: "Scope", trials: tuple[str, ...], conditions: tuple[str, ...]) -> dict[str, Any]:
    """How days, seasons and attacks change a site.

    Needs a model that judges zones. Buildings are commissioned on few days, in another season, on days with attacks in
    them, with one to three zones, and every week, and judged under cases that no training saw.
    """
    from dataclasses import asdict, replace

    from graphghha.lab.bench.results import make_result
    from graphghha.lab.evaluation import TrialConfig, trial_rows, without_nan
    from graphghha.models import load_model

    config = TrialConfig(seed=scope.seed, trials=trials, conditions=conditions)
    if scope.quick:
        config = replace(config, buildings=1, days=1)
    rows = trial_rows(load_model(scope.model), config, progress=scope.progress)
    return make_result("commissioning", {**asdict(config), "model": scope.model.name}, without_nan(rows))


@benchmark("zone-model")
@click.option("--buildings", type=click.IntRange(1), help="Buildings to attack.")
@click.option("--attacks", type=click.IntRange(1), help="Attacks of each building that have to be hidden.")
@click.option("--steps", type=click.IntRange(1), help="Steps of the search, for each attack and number of nodes.")
@click.option("--defence", "defences", multiple=True, metavar="NAME", help="Only this defence; repeatable.")
def attacker(
    scope: "Scope", buildings: int | None, attacks: int | None, steps: int | None, defences: tuple[str, ...]
) -> dict[str, Any]:
    """An attacker who changes readings he holds.

    Needs a model that judges zones. Random buildings are commissioned and attacked; the attacker then changes the
    readings of one to three nodes of the zone to hide it.
    """
    from dataclasses import replace

    from graphghha.lab.bench.detection.attacker_study import QUICK, StudyConfig, attacker_study
    from graphghha.models import load_model

    base = QUICK if scope.quick else StudyConfig()
    config = replace(
        base,
        seed=scope.seed,
        buildings=buildings or base.buildings,
        attacks=attacks or base.attacks,
        effort=replace(base.effort, steps=steps or base.effort.steps),
        defences=defences or base.defences,
    )
    result = attacker_study(load_model(scope.model), config, room=ROOM, progress=scope.progress)
    return {**result, "config": {**result["config"], "model": scope.model.name, "quick": scope.quick}}


@benchmark("zone-model", "work")
@click.option("--buildings", type=click.IntRange(1), help="Buildings of twelve zones in each group (default: 5).")
@click.option("--networks", type=click.IntRange(0), help="Models whose networks are trained with further seeds.")
@click.option(
    "--falsify",
    type=click.FloatRange(0, 1),
    metavar="SHARE",
    help="They are taught this share of attacks with falsified readings (default: that of the model).",
)
def whether_where(scope: "Scope", buildings: int | None, networks: int | None, falsify: float | None) -> dict[str, Any]:
    """A model that judges zones beside others.

    Whether a zone is attacked, at equal false alarms, and through which node, in random buildings. --work may be the
    folder that `train --preset zones` worked in; without it, the model's training windows are made again. Models with
    further seeds stay there as `seed-1` and so on, those with --falsify as `falsified-1`.
    """
    from dataclasses import replace

    from graphghha.lab.bench.detection.whether_where import QUICK, WhetherWhereConfig, groups_of, whether_where
    from graphghha.models import load_model

    config = replace(QUICK if scope.quick else WhetherWhereConfig(), seed=scope.seed)
    if buildings:
        config = replace(config, groups=groups_of(buildings))
    if networks is not None:
        config = replace(config, networks=networks)
    config = replace(config, falsify_share=falsify)
    result = whether_where(load_model(scope.model), config, scope.work, progress=scope.progress)
    return {**result, "config": {**result["config"], "name": scope.model.name}}


@benchmark("zone-model", "work")
@click.option("--buildings", type=click.IntRange(6), help="Training buildings of every diet (default: 60).")
@click.option("--fits", type=click.IntRange(1), help="Networks of every diet (default: 3).")
@click.option("--exams", type=click.IntRange(1), help="Test buildings of every family (default: 2).")
def diets(scope: "Scope", buildings: int | None, fits: int | None, exams: int | None) -> dict[str, Any]:
    """Networks taught without some of the attacks.

    One family of generic attacks is left out at a time, or a third of the training is the catalogue. Needs a model that
    judges zones, for its preprocessing; the networks are small ones of their own.
    """
    from dataclasses import replace

    from graphghha.lab.bench.detection.diets import QUICK, DietConfig, diet_study
    from graphghha.models import load_model

    base = QUICK if scope.quick else DietConfig()
    config = replace(
        base,
        seed=scope.seed,
        buildings=buildings or base.buildings,
        fits=fits or base.fits,
        exam_buildings=exams or base.exam_buildings,
    )
    result = diet_study(load_model(scope.model), config, scope.work, progress=scope.progress)
    return {**result, "config": {**result["config"], "name": scope.model.name}}


@benchmark("work")
def effects(scope: "Scope") -> dict[str, Any]:
    """Effects that training never showed.

    Trains two small models, one without rounding, change of value, samples, losses and missing points, and judges both
    in buildings whose systems report that way. Takes about an hour.
    """
    from dataclasses import replace

    from graphghha.lab.bench.detection.effects import QUICK, EffectsConfig, effects_study

    config = replace(QUICK if scope.quick else EffectsConfig(), seed=scope.seed)
    return effects_study("fcu", config, scope.work, progress=scope.progress)


COMMANDS = (shift, commissioning, attacker, whether_where, diets, effects)
