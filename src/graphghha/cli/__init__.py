"""The command line: one file per command, which parses its options, calls one function and prints the result."""

from graphghha.cli.main import main

__all__ = ["main"]
