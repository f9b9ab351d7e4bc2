"""`python -m graphghha` runs the command where the script is not on the path."""

from graphghha.cli.main import main

main(prog_name="graphghha")
