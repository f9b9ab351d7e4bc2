"""The help of every command: first sentences that fit their column, and options that are explained."""

import click
import pytest

from graphghha.cli import main


def commands(command, *names):
    """Yield every command below this one with its name."""
    for name, child in sorted(getattr(command, "commands", {}).items()):
        yield " ".join((*names, name)), child
        yield from commands(child, *names, name)


COMMANDS = dict(commands(main))


@pytest.mark.parametrize("name", COMMANDS)
def test_the_first_sentence_is_shown_uncut(name):
    summary = COMMANDS[name].get_short_help_str(limit=45)
    assert summary and not summary.endswith("..."), f"{summary} has more than 45 characters"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_explained_by_a_sentence(name):
    for option in COMMANDS[name].params:
        if isinstance(option, click.Option):
            assert option.help and option.help.endswith("."), f"{name} {option.opts[0]}: {option.help}"
