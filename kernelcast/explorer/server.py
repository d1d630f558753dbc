"""The explorer's web server: a page, its files, and one address that answers questions."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from importlib import resources
from typing import Any

from kernelcast.errors import InputError
from kernelcast.explorer.examples import EXAMPLES
from kernelcast.explorer.isolation import Isolation
from kernelcast.simcore.device.file import known_devices

__all__ = ["MOST_BODY", "explorer_app", "serve"]

MOST_BODY = 256 * 1024
_MOST_DISCARDED = 64 << 20
_MOST_WAITING = 64
_FILES = {
    "/": ("explorer.html", "text/html"),
    "/explorer.js": ("explorer.js", "text/javascript"),
    "/explorer.css": ("explorer.css", "text/css"),
}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
_MISSING = "the explorer needs a web server: pip install 'kernelcast[serve]'"


class _Explorer:
    """What is answered at each address; `at_once` requests are computed at the same time."""

    def __init__(self, isolation: Isolation, at_once: int) -> None:
        self._isolation = isolation
        self._turns = threading.Semaphore(at_once)
        self._waiting = threading.Semaphore(_MOST_WAITING)

    async def file(self, request: Any) -> Any:
        """A file of the page."""
        from starlette.responses import Response

        name, kind = _FILES[request.url.path]
        content = (resources.files(__package__) / "page" / name).read_bytes()
        return Response(content, media_type=kind, headers=_HEADERS)

    async def begin(self, _request: Any) -> Any:
        """What the page needs to begin with."""
        return _json({"devices": known_devices(), "examples": EXAMPLES})

    async def answer(self, request: Any) -> Any:
        """The answer to a question, or why there is none."""
        from starlette.concurrency import run_in_threadpool

        # Forms of other sites can send no JSON without the browser asking us first.
        if request.headers.get("content-type", "").split(";")[0] != "application/json":
            return _failed("a request is JSON", 415)
        body = await _body(request)
        if body is None:
            return _failed(f"the text is longer than {MOST_BODY // 1024} KiB", 413)
        try:
            question = json.loads(body)
        except (ValueError, RecursionError):
            return _failed("a request is JSON", 400)
        if not self._waiting.acquire(blocking=False):
            return _failed("too many requests are waiting: try again", 503)
        try:
            return _json(await run_in_threadpool(self._computed, question))
        finally:
            self._waiting.release()

    def _computed(self, question: Any) -> dict[str, Any]:
        with self._turns:
            return self._isolation.answer(question)


async def _body(request: Any) -> bytes | None:
    """The body of a request; None where it is too long.

    It is read to its end even then, since who still sends does not listen.
    """
    body, size = bytearray(), 0
    async for piece in request.stream():
        size += len(piece)
        if size <= MOST_BODY:
            body += piece
        elif size > _MOST_DISCARDED:
            break
    return bytes(body) if size <= MOST_BODY else None


def _json(found: Mapping[str, Any], status: int = 200) -> Any:
    from starlette.responses import JSONResponse

    return JSONResponse(found, status, _HEADERS)


def _failed(text: str, status: int) -> Any:
    return _json({"error": text}, status)


def explorer_app(isolation: Isolation, at_once: int) -> Any:
    """The ASGI application; InputError where Starlette is not installed."""
    try:
        from starlette.applications import Starlette
        from starlette.middleware import Middleware
        from starlette.middleware.trustedhost import TrustedHostMiddleware
        from starlette.routing import Route
    except ImportError:
        raise InputError(_MISSING) from None
    explorer = _Explorer(isolation, at_once)
    return Starlette(
        routes=[
            *(Route(path, explorer.file) for path in _FILES),
            Route("/begin", explorer.begin),
            Route("/answer", explorer.answer, methods=["POST"]),
        ],
        # A name of somebody else's that leads to this machine is not ours.
        middleware=[
            Middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost", "::1"])
        ],
    )


def serve(port: int, at_once: int, *, seconds: float, is_trusted: bool) -> None:
    """Serves on loopback until it is interrupted; InputError where the port is taken.

    `seconds` are what a request may take in all.
    """
    try:
        import uvicorn
    except ImportError:
        raise InputError(_MISSING) from None
    isolation = Isolation(seconds=seconds, is_trusted=is_trusted)
    app = explorer_app(isolation, at_once)
    isolation.begin()
    try:
        uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")
    except SystemExit:
        raise InputError(f"port {port} cannot be had: name another one with --port") from None
