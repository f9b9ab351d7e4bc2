"""`python -m graphghha`: the command where no script is on the path."""

from graphghha.cli.main import main

main(prog_name="graphghha")
