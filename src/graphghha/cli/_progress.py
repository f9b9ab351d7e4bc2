"""The progress bar of long commands."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn


def progress_bar(*columns: "str | ProgressColumn", is_kept: bool = False, **settings: Any) -> "Progress":
    """Return a bar on standard error, which goes away at the end unless it is kept.

    Elsewhere than on a terminal there is none: it would leave an empty line in a log, before an error for example.
    """
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    return Progress(
        *columns, console=console, transient=not is_kept, **{"disable": not console.is_terminal, **settings}
    )
