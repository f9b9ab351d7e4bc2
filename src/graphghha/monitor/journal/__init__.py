"""The journal: events, rows and checkpoints in one SQLite file."""

from graphghha.monitor.journal.commands import (
    parse_body,
    parse_command,
    submit_bodies,
    submit_body,
    submit_command,
    withdraw_command,
)
from graphghha.monitor.journal.incident_list import IncidentFilter
from graphghha.monitor.journal.journal import Commit, Journal
from graphghha.monitor.journal.lease import JournalBusyError, make_private_folder
from graphghha.monitor.journal.page_reader import PageReader
from graphghha.monitor.journal.reader import Reader
from graphghha.monitor.journal.retention import Retention

__all__ = [
    "Commit",
    "IncidentFilter",
    "Journal",
    "JournalBusyError",
    "PageReader",
    "Reader",
    "Retention",
    "make_private_folder",
    "parse_body",
    "parse_command",
    "submit_bodies",
    "submit_body",
    "submit_command",
    "withdraw_command",
]
