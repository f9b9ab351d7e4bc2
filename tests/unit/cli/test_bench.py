"""The options that the commands of `graphghha bench` share."""

import click
import pytest

from graphghha.cli.bench import bench
from graphghha.models import shipped_model


def test_a_model_is_a_directory_or_the_name_of_a_shipped_one(tmp_path):
    events = bench.commands["events"]
    assert events.make_context("events", ["--model", "fcu"]).params["model"] == shipped_model("fcu")
    assert events.make_context("events", ["--model", str(tmp_path)]).params["model"] == tmp_path
    with pytest.raises(click.BadParameter, match="no such directory"):
        events.make_context("events", ["--model", "nowhere"])


@pytest.mark.parametrize(("text", "message"), [("32,x", "separated by commas"), ("32,0", "at least 1")])
def test_sizes_are_positive_whole_numbers(text, message):
    for name in ("latency", "detection"):
        with pytest.raises(click.BadParameter, match=message):
            bench.commands[name].make_context(name, ["--sizes", text])
