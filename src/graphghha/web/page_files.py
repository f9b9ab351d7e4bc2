"""Files of the page as answers: compressed for browsers that take that, and not sent again while they are the same."""

import gzip
import mimetypes
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from fastapi import Request
from fastapi.responses import FileResponse, Response

TEXTS = (".css", ".html", ".js", ".svg")


def page_file(file: Path, request: Request, caching: str) -> Response:
    """Return the answer with a file."""
    headers = {"Cache-Control": caching, "Vary": "Accept-Encoding"}
    if file.suffix not in TEXTS or not _takes_gzip(request):
        return FileResponse(file, headers=headers)
    content, tag = _packed(file, file.stat().st_mtime_ns)
    headers["ETag"] = tag
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    headers["Content-Encoding"] = "gzip"
    return Response(content, headers=headers, media_type=mimetypes.guess_type(file.name)[0])


def _takes_gzip(request: Request) -> bool:
    accepted = request.headers.get("accept-encoding", "").replace(" ", "").lower().split(",")
    return any(each == "gzip" or (each.startswith("gzip;") and each != "gzip;q=0") for each in accepted)


@lru_cache(maxsize=32)
def _packed(file: Path, changed_ns: int) -> tuple[bytes, str]:
    """Return a file compressed, and its tag. `changed_ns` makes a file that was replaced another one."""
    content = gzip.compress(file.read_bytes(), 9, mtime=0)
    return content, f'"{sha256(content).hexdigest()[:24]}"'
