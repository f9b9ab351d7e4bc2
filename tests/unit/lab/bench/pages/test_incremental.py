"""The events page states whether event-driven scoring saves time."""

import pytest

from graphghha.lab.bench.pages.incremental import events_page

pytestmark = pytest.mark.slow


def test_the_page_states_whether_it_saves_time(events, tmp_path):
    nothing = {**events, "best": [{"nodes": 64, "tolerance": None, "ratio": None}]}
    assert "event-driven scoring saves no time" in events_page(nothing, tmp_path).read_text()
    something = {**events, "best": [{"nodes": 64, "tolerance": 0.1, "ratio": 0.4}]}
    assert "tolerance 0.1 keeps every label" in events_page(something, tmp_path).read_text()
