"""The monitor as a long-running service."""
