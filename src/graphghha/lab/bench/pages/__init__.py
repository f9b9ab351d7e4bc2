"""Result pages written from stored JSON."""
