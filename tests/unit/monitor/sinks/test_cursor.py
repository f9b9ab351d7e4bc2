"""Cursors: a position that survives restarts and fits only its own journal."""

from dataclasses import replace

import pytest

from graphghha.monitor.sinks.cursor import Cursor, Position, start_number
from sink_builders import MemoryLog, incident


@pytest.fixture
def path(tmp_path):
    return tmp_path / "sink.cursor"


def test_a_position_is_read_back_by_the_next_process(path):
    Cursor(path).move(Position.from_event(incident(7)))
    assert Cursor(path).position == Position.from_event(incident(7))
    assert start_number(Cursor(path), MemoryLog(20)) == 7


@pytest.mark.parametrize("unread, start", [(5, 4), (2, 3), (9, 7), (None, 7)])
def test_what_may_not_have_been_read_is_delivered_again_as_far_as_it_is_kept(path, unread, start):
    Cursor(path).move(replace(Position.from_event(incident(7)), unread=unread))
    journal = MemoryLog(20)
    journal.drop(3)
    assert start_number(Cursor(path), journal) == start


def test_without_a_file_the_position_is_kept_in_memory():
    cursor = Cursor(None)
    cursor.move(Position.from_event(incident(3)))
    assert cursor.position == Position.from_event(incident(3)) and start_number(cursor, MemoryLog(9)) == 3


@pytest.mark.parametrize("content", ['{"numb', "", "[]", '{"number": "x", "key": "north:1", "time_ms": 1}'])
def test_an_unreadable_cursor_starts_at_the_oldest_event(path, content, caplog):
    path.write_text(content)
    journal = MemoryLog(20)
    journal.drop(5)
    assert start_number(Cursor(path), journal) == 5 and "cannot be read" in caplog.text


def test_a_cursor_of_another_journal_starts_at_the_oldest_event(path, caplog):
    Cursor(path).move(Position.from_event(incident(7, site="south")))
    assert start_number(Cursor(path), MemoryLog(20)) == 0 and "belongs to another journal" in caplog.text


def test_a_position_before_the_oldest_event_is_kept_so_that_the_loss_is_reported(path):
    Cursor(path).move(Position.from_event(incident(2)))
    journal = MemoryLog(20)
    journal.drop(10)
    assert start_number(Cursor(path), journal) == 2
