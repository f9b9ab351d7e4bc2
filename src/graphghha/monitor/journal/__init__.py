"""The journal: events, rows and checkpoints in one SQLite file."""
