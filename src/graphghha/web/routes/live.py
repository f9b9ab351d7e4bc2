"""The live stream."""

from typing import Annotated

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import StreamingResponse

from graphghha.errors import NotFoundError
from graphghha.web.context import Parts, Who
from graphghha.web.stream import Client

router = APIRouter(tags=["live"])


class EventStream(StreamingResponse):
    """A stream of server-sent events."""

    media_type = "text/event-stream"


@router.get("/stream", response_class=EventStream)
async def stream(
    request: Request,
    who: Who,
    parts: Parts,
    site: Annotated[str | None, Query(max_length=64)] = None,
    after: Annotated[int | None, Query(ge=0, le=2**62)] = None,
    last_event_id: Annotated[str | None, Header(max_length=20)] = None,
) -> EventStream:
    """Events of the journal and states of sites as they happen. See the page about the API for its frames."""
    if site is not None and not who.may_see(site):
        raise NotFoundError(f"there is no site {site!r}")
    parts.broadcaster.refuse_more(who, parts.config.most_streams)
    number = int(last_event_id) if last_event_id and last_event_id.isdecimal() and last_event_id.isascii() else after
    frames = parts.broadcaster.follow(Client(who, site), number, lambda: parts.identity(request) is not None)
    return EventStream(frames, headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
