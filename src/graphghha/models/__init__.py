"""Model directories: write, verify, load. No torch."""

from graphghha.models.directory import Model, load_model, save_model

__all__ = ["Model", "load_model", "save_model"]
