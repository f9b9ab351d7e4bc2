"""The routes of `/api/v1`, a file per subject."""
