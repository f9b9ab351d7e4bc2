"""`graphghha demo`: watch a simulated building under attack, without any settings."""

from pathlib import Path

import click

from graphghha.cli._demo_run import SEED
from graphghha.cli._output import echo, echo_json
from graphghha.cli._outputs import OUTPUT_FILE


@click.command()
@click.option(
    "--minutes",
    type=click.IntRange(1),
    help="Without the page: minutes of plant time to watch; 480 if left out.",
)
@click.option(
    "--speed",
    default=120.0,
    show_default=True,
    type=click.FloatRange(0, min_open=True),
    help="Speed of the page and of the live view: plant time over real time.",
)
@click.option("--seed", type=int, help="Seed of the simulated building; 7, or that of --state, if left out.")
@click.option("--port", type=click.IntRange(0, 65535), help="Port of the page instead of 8420; 0 takes any free one.")
@click.option(
    "--state",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep the journal of the page here and go on with it next time (default: it is deleted).",
)
@click.option("--no-browser", is_flag=True, help="Only print the address of the page.")
@click.option("--terminal", is_flag=True, help="Show the building in the terminal instead of on the page.")
@click.option("--headless", is_flag=True, help="Print lines instead of a live view, as fast as possible.")
@click.option(
    "--picture",
    type=OUTPUT_FILE,
    help="Write the last view as an SVG file (no live view).",
)
@click.option("--json", "as_json", is_flag=True, help="Print incidents as JSON lines and the score card last.")
def demo(
    minutes: int | None,
    speed: float,
    seed: int | None,
    port: int | None,
    state: Path | None,
    no_browser: bool,
    terminal: bool,
    headless: bool,
    picture: Path | None,
    as_json: bool,
) -> None:
    """Watch a simulated building under attack.

    The building is monitored and served like a real site; its page is opened in the browser and shows every attack with
    its node and probability. In the terminal a score card follows at the end.
    """
    if not (terminal or headless or as_json or picture):
        from graphghha.cli._demo_page import show_page, why_no_page

        if minutes is not None:
            raise click.UsageError("--minutes belongs to --terminal and --headless; the page goes on until Ctrl-C")
        if (why := why_no_page()) is None:
            show_page(seed=seed, speed=speed, port=port, state=state, is_browser_wanted=not no_browser)
            return
        echo(f"{why}. This is the view in the terminal.", err=True)
    _without_page(minutes or 480, speed, SEED if seed is None else seed, headless, picture, as_json)


def _without_page(minutes: int, speed: float, seed: int, headless: bool, picture: Path | None, as_json: bool) -> None:
    from graphghha.cli._demo_view import demo_views, lines, show_demo
    from graphghha.cli._terminal_view import write_picture
    from graphghha.demo import Demo

    with Demo(minutes=minutes, seed=seed) as running:
        if headless or as_json or picture:
            for minute in running.watch():
                for event, line in lines(minute.events):
                    body = {"event": event.kind.partition(".")[2], **event.body}
                    echo_json(body) if as_json else echo(line)
            if picture:
                write_picture(demo_views(running), picture)
        else:
            show_demo(running, speed)
        if not running.has_begun:  # stopped while the preceding days were simulated
            return
        card = running.scorecard()
    if as_json:
        echo_json({"scorecard": card})
        return
    false_alarms = f"{card['false_alarms']} false alarm{'' if card['false_alarms'] == 1 else 's'}"
    echo()
    if not card["detected"]:
        echo(f"{card['detected']} of {card['attacks']} attacks found, {false_alarms}")
    else:
        echo(
            "this building is one the model knows; in a building of your own `graphghha watch` judges every zone by "
            "the others, and after two weeks by what it has learned there (docs/operators.md, Commission a site)"
        )
        echo(
            f"{card['detected']} of {card['attacks']} attacks found, right node first in {card['hit_at_1']:.0%}, "
            f"median {card['median_ttd_min']:.0f} min, {false_alarms}"
        )
