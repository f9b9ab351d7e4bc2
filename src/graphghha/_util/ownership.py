"""Whether a file can have been written by anybody but this user and root."""

import os
import stat
from pathlib import Path

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def distrust(path: Path) -> str | None:
    """Return why a file or folder is not to be trusted, or None if it is ours or root's and others cannot write it.

    All folders above it count, since anyone who may write one of them can replace what lies below. In a folder with the
    sticky bit, such as /tmp, others cannot rename what is ours.
    """
    path = path.absolute()
    for each in (path, *path.parents):
        try:
            facts = os.lstat(each)
        except OSError as exc:
            return f"{each} cannot be examined: {exc.strerror}"
        if facts.st_uid not in (0, os.geteuid()):
            return f"{each} belongs to another user"
        if stat.S_ISLNK(facts.st_mode):
            reason = distrust(each.resolve())  # the folders above the link are examined by this loop
            if reason is not None:
                return reason
        elif facts.st_mode & _OTHERS_WRITE and not (stat.S_ISDIR(facts.st_mode) and facts.st_mode & stat.S_ISVTX):
            return f"{each} may be written by other users"
    return None
