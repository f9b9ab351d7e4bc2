"""The journal: events, rows and checkpoints in one SQLite file."""

from graphghha.monitor.journal.commands import parse_command, submit_command, withdraw_command
from graphghha.monitor.journal.journal import Commit, Journal, Retention
from graphghha.monitor.journal.lease import JournalBusyError, make_private_folder
from graphghha.monitor.journal.reader import Reader

__all__ = [
    "Commit",
    "Journal",
    "JournalBusyError",
    "Reader",
    "Retention",
    "make_private_folder",
    "parse_command",
    "submit_command",
    "withdraw_command",
]
