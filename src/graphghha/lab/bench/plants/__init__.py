"""The detector of any plant on the public data of plants that nobody here built. The data stay outside the package."""
