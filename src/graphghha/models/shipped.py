"""The models that come with the package, one per built-in plant."""

from pathlib import Path

from graphghha.errors import NotFoundError

_ROOT = Path(__file__).parent / "default"


def shipped_model(plant: str) -> Path:
    """The directory of the model trained for a built-in plant (`graphghha train --preset default` rebuilds it)."""
    directory = _ROOT / plant
    if not directory.exists():
        raise NotFoundError(f"no model is shipped for plant {plant!r}; train one: graphghha train --out DIR")
    return directory
