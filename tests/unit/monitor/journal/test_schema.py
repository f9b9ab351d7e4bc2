"""Versions of the journal's tables."""

import sqlite3

import pytest

from graphghha.errors import JournalError
from graphghha.monitor import Journal
from graphghha.monitor.journal.schema import APPLICATION_ID, VERSION


@pytest.fixture
def path(tmp_path):
    return tmp_path / "journal.db"


def test_a_journal_of_a_newer_version_is_refused_and_left_as_it_is(path):
    Journal(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID + VERSION + 1}")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(JournalError, match="newer"):
        Journal(path)
    assert path.read_bytes() == before
