"""The command line: one file per command; parse, call one function, print."""

from graphghha.cli.main import main

__all__ = ["main"]
