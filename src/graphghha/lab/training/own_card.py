"""The model card of a plant of the user's own."""

from graphghha.models.own import OwnModel


def own_card(model: OwnModel) -> str:
    """Return README.md of the model directory."""
    facts, plan = model.provenance, model.preprocessing.plan
    low, high = facts["expected_false_alarms_per_day"]
    lines = [
        f"# Detector for plant `{model.plant.name}`",
        "",
        f"Trained on {facts['normal_days']:.1f} normal days in {facts['recordings']} recordings, "
        f"{len(model.plant.template.points)} signals, a step of {plan.step_s:g} s.",
        "",
        f"- Alert budget: {facts['budget_per_day']:g} false alarms a day. On the training data, each row judged by "
        f"what was learned from other days: {facts['false_alarms']} false alarms; expect {low:g} to {high:g} a day.",
        f"- A row is judged every {plan.stride * plan.step_s:g} s and a score averages {plan.smooth} of them.",
        "- `p` comes from the tail of normal scores. It is not the share of alarms that are attacks.",
        *_classes(model),
        "- It cannot see: attacks that write nothing new, a value that is held where it rests anyway, a replay that "
        "looks like today, and what happens on points that are not in plant.toml.",
    ]
    if facts["constant"]:
        names = ", ".join(facts["constant"][:12])
        lines.append(f"- Never moved in training, so their first move is an alarm: {names}")
    if facts["standing"]:
        lines.append(f"- In alarm for most of a day in training, check them: {', '.join(facts['standing'][:12])}")
    lines += [f"- Standing fault, learned as normal and no alarm: {fault}" for fault in facts["standing_faults"]]
    return "\n".join(lines) + "\n"


def _classes(model: OwnModel) -> list[str]:
    facts = model.provenance
    if model.taught is None:
        return ["- The class of an alarm is the kind of the node that it names: no attack was learned from."]
    names = ", ".join(list(model.taught.classes)[:12])
    return [
        f"- Labelled attacks were learned from, on {len(model.taught.classes)} nodes: {names}. The network has alarms "
        f"of its own, and half of the alert budget: {facts['network_false_alarms']} false alarms in "
        f"{facts['network_normal_days']:.1f} normal days that it was not taught on.",
        "- The class of an alarm that the network raises on one of these nodes is the one that the labels state; of "
        "other alarms it is the kind of the node. An alarm of the statistics alone for which the network would name "
        "another node is unclassified: it is unlike the labelled attacks.",
    ]
