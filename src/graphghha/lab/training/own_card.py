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
        "- The class of an alarm is the kind of the node that it names: no attack was learned from.",
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
