"""The `graphghha` command. Commands import heavy packages inside their functions, so that --help is fast."""

import errno
import os
from typing import Any

import click

from graphghha import __version__
from graphghha._util.text import clean
from graphghha.cli._interrupt import EXIT_CODE, interrupted, safe_while_importing
from graphghha.cli._output import echo
from graphghha.cli.alarms import alarms
from graphghha.cli.bench import bench
from graphghha.cli.cases import cases
from graphghha.cli.commission import commission
from graphghha.cli.config import config
from graphghha.cli.data import data
from graphghha.cli.demo import demo
from graphghha.cli.doctor import doctor
from graphghha.cli.evaluate import evaluate
from graphghha.cli.export import export
from graphghha.cli.graph import graph
from graphghha.cli.import_lbnl import import_lbnl
from graphghha.cli.model import model
from graphghha.cli.people import token, user
from graphghha.cli.plant import plant
from graphghha.cli.score import score
from graphghha.cli.serve import serve
from graphghha.cli.simulate import simulate
from graphghha.cli.status import status
from graphghha.cli.testbed import testbed
from graphghha.cli.train import train
from graphghha.cli.watch import watch
from graphghha.errors import GraphGHHAError

# what is wrong with a file or a disk is not a bug of ours
_OF_FILES = {
    getattr(errno, name)
    for name in ("EACCES", "EDQUOT", "EIO", "EISDIR", "ENAMETOOLONG", "ENOENT", "ENOSPC", "ENOTDIR", "EPERM", "EROFS")
}


class Cli(click.Group):
    """The group of all commands. It turns our errors into one red line and an exit code; bugs keep their traceback."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        with safe_while_importing():
            return super().main(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except GraphGHHAError as exc:
            echo(f"{type(exc).__name__}: {exc}", fg="red", err=True, is_one_line=False)
            ctx.exit(exc.exit_code)
        except KeyboardInterrupt:
            echo(interrupted(ctx.invoked_subcommand), err=True)
            ctx.exit(EXIT_CODE)
        except OSError as exc:
            if exc.errno not in _OF_FILES or exc.filename is None:
                raise
            echo(f"{os.fspath(exc.filename)!s}: {exc.strerror}", fg="red", err=True)
            ctx.exit(1)
        except click.UsageError as exc:
            message = exc.format_message()
            if (safe := clean(message, keep_newlines=True)) == message:
                raise
            raise click.UsageError(safe, exc.ctx) from None  # it repeats an argument that holds control characters


@click.group(cls=Cli, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="graphghha")
def main() -> None:
    """Detect attacks on cyber-physical systems.

    Incidents name the attacked node, the class of the attack, its probability, its start and the evidence.
    """
    # No command has imported numpy yet. Our matrix products are small: on a busy machine, one thread per core makes
    # each of them twenty times slower than a single thread does.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


testbed.add_command(import_lbnl)
for command in (
    alarms,
    bench,
    cases,
    commission,
    config,
    data,
    demo,
    doctor,
    evaluate,
    export,
    graph,
    model,
    plant,
    score,
    serve,
    simulate,
    status,
    testbed,
    token,
    train,
    user,
    watch,
):
    main.add_command(command)
