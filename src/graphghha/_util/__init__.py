"""Small helpers that every package may use. Standard library only."""
