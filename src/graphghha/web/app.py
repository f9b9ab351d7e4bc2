"""The web application: routes of the API, the page, and the guard around both."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException

from graphghha._version import __version__
from graphghha.errors import AccessError, GraphGHHAError
from graphghha.web.access_store import LOCAL, AccessStore
from graphghha.web.config import WebConfig
from graphghha.web.context import Context, address
from graphghha.web.contract.common import Problem
from graphghha.web.guard import Guard
from graphghha.web.library import Library, origin
from graphghha.web.openapi import describe, operation_id
from graphghha.web.page_files import page_file
from graphghha.web.routes import access, incidents, live, sites
from graphghha.web.routes.access import set_cookie
from graphghha.web.stream import Broadcaster

PREFIX = "/api/v1"
NO_PAGE = "The page is not part of this installation. The API answers under /api/v1.\n"
_REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": why}
    for status, why in {
        400: "the body cannot be read",
        401: "nobody is logged in",
        403: "the role, the site or the origin does not allow it",
        404: "there is no such thing",
        409: "it has changed, or its state does not allow it",
        413: "the body is too large",
        422: "a value is not possible",
        429: "too many requests",
        503: "the monitor does not answer",
        507: "the journal cannot be read or written",
    }.items()
}


def make_app(config: WebConfig) -> Guard:
    """Return the application with its guard."""
    api = make_api(config)
    context: Context = api.state.context
    return Guard(api, config, context.refused_stranger)


def make_api(config: WebConfig) -> FastAPI:
    """Return the application without its guard."""
    library = Library(config.journal)
    broadcaster = Broadcaster(library)
    context = Context(config, AccessStore(config.access), library, broadcaster)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await broadcaster.stop()

    app = FastAPI(
        title="graphghha",
        version=__version__,
        description="Attack detection for cyber-physical systems: sites, incidents, commands, live events.",
        openapi_url=f"{PREFIX}/openapi.json",
        docs_url=None,  # the built-in pages load scripts from other hosts
        redoc_url=None,
        lifespan=lifespan,
        generate_unique_id_function=operation_id,
    )
    app.state.context = context
    api = APIRouter(prefix=PREFIX, responses=_REFUSALS)
    for part in (access, sites, incidents, live):
        api.include_router(part.router)
    app.include_router(api)
    app.add_exception_handler(GraphGHHAError, _on_our_error)
    app.add_exception_handler(RequestValidationError, _on_wrong_request)
    app.add_exception_handler(HTTPException, _on_http_error)
    _add_page(app, context)
    document = cache(lambda: describe(app))
    app.openapi = document  # type: ignore[method-assign]
    return app


def _add_page(app: FastAPI, parts: Context) -> None:
    static = parts.config.static

    @app.get("/{path:path}", include_in_schema=False)
    def page(path: str, request: Request, token: str | None = None) -> Response:
        """Serve the page; a one-time token of a printed address logs in first."""
        if path == "" and token is not None:
            return _enter(parts, request, token)
        if path.startswith("api/"):
            return problem(404, "NotFoundError", "there is no such route; see /api/v1/openapi.json")
        file = _file(static, path)
        if file is None:
            return PlainTextResponse(NO_PAGE, status_code=404 if path else 200)
        is_named_by_hash = file.parent != static
        caching = "public, max-age=31536000, immutable" if is_named_by_hash else "no-cache"
        return page_file(file, request, caching)


def _file(static: Path, path: str) -> Path | None:
    """Return a file of the page; for an address within the page, its first file; None if there is none."""
    root = static.resolve()
    try:
        file = (root / path).resolve()
        if file.is_file() and file.is_relative_to(root):
            return file
    except (OSError, ValueError):
        return None
    index = root / "index.html"
    return index if "." not in path.rpartition("/")[2] and index.is_file() else None


def _enter(parts: Context, request: Request, token: str) -> Response:
    if not parts.access.use_once(token):
        text = "This address has been used or is too old. Start `graphghha serve` again for a new one, or log in.\n"
        return PlainTextResponse(text, status_code=401)
    secret = parts.access.begin_session(LOCAL, "admin", None, "local", parts.config.session_hours)
    response = RedirectResponse("/", status_code=303)
    set_cookie(response, parts, secret)
    who = parts.access.session(secret)
    if who is not None:
        parts.library.note("access.login", {"role": who.role, **origin(who, address(request))})
    return response


def problem(status: int, error: str, message: str, needs: str | None = None, retry_s: int | None = None) -> Response:
    """Return a refusal."""
    body = {"error": error, "message": message, "needs": needs, "retry_after_s": retry_s}
    headers = {} if retry_s is None else {"Retry-After": str(retry_s)}
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return JSONResponse(body, status_code=status, headers=headers)


def _on_our_error(_: Request, exc: Exception) -> Response:
    assert isinstance(exc, GraphGHHAError)
    more = (exc.needs, exc.retry_after_s) if isinstance(exc, AccessError) else (None, None)
    return problem(exc.http_status, type(exc).__name__, str(exc), *more)


def _on_wrong_request(_: Request, exc: Exception) -> Response:
    assert isinstance(exc, RequestValidationError)
    first = exc.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    return problem(422, "ConfigError", f"{where}: {first['msg']}")


def _on_http_error(_: Request, exc: Exception) -> Response:
    assert isinstance(exc, HTTPException)
    answer = problem(exc.status_code, "HttpError", str(exc.detail))
    answer.headers.update(exc.headers or {})
    return answer
