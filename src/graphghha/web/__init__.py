"""The HTTP API and the page: a process of its own that reads the journal and leaves commands in it. Needs no torch."""
