"""Hostile recordings, copied and killed journals, odd model folders, blocked output and secrets."""

import pytest

from faults.copies import try_copies
from faults.process import try_process
from faults.recordings import try_recordings


# pyarrow itself fails to decode some broken rows before it asks us what to do with them
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_hostile_files_are_read_or_refused_in_bounded_memory(failures):
    assert failures(try_recordings) == []


def test_copies_of_a_journal_and_killed_salvages_lose_nothing(failures):
    assert failures(try_copies) == []


def test_blocked_output_ends_nothing_and_no_secret_comes_out(mosquitto, failures):
    assert failures(try_process) == []
