"""The journal: events, rows and checkpoints in one SQLite file."""

from graphghha.monitor.journal.journal import Commit, Journal, JournalBusyError, Retention, submit_command
from graphghha.monitor.journal.reader import Reader

__all__ = ["Commit", "Journal", "JournalBusyError", "Reader", "Retention", "submit_command"]
