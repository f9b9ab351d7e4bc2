"""Reading a journal."""

import pytest

from graphghha.errors import JournalError, NotFoundError
from graphghha.monitor import Reader


@pytest.fixture
def path(tmp_path):
    return tmp_path / "journal.db"


def test_a_journal_that_does_not_exist_is_not_created(path):
    with pytest.raises(NotFoundError, match="no journal"):
        Reader(path)
    assert not path.exists()


def test_a_file_that_is_not_a_journal_is_an_error(path):
    path.write_bytes(b"minutes of the meeting\n" * 100)
    with pytest.raises(JournalError, match="cannot be read as a journal"):
        Reader(path)
