"""The explorer's web server: a page, its files, and one address that answers questions."""

from __future__ import annotations

import json
import threading
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


def explorer_app(isolation: Isolation, at_once: int) -> Any:
    """The ASGI application; `at_once` requests are computed at the same time, others wait."""
    try:
        from starlette.applications import Starlette
        from starlette.concurrency import run_in_threadpool
        from starlette.middleware import Middleware
        from starlette.middleware.trustedhost import TrustedHostMiddleware
        from starlette.responses import JSONResponse, Response
        from starlette.routing import Route
    except ImportError:
        raise InputError(_MISSING) from None
    turns, waiting = threading.Semaphore(at_once), threading.Semaphore(_MOST_WAITING)

    def computed(question: Any) -> dict[str, Any]:
        with turns:
            return isolation.answer(question)

    def failed(text: str, status: int) -> Any:
        return JSONResponse({"error": text}, status, _HEADERS)

    async def file(request: Any) -> Any:
        name, kind = _FILES[request.url.path]
        content = (resources.files(__package__) / "page" / name).read_bytes()
        return Response(content, media_type=kind, headers=_HEADERS)

    async def begin(_request: Any) -> Any:
        found = {"devices": known_devices(), "examples": EXAMPLES}
        return JSONResponse(found, headers=_HEADERS)

    async def answer(request: Any) -> Any:
        # Forms of other sites can send no JSON without the browser asking us first.
        if request.headers.get("content-type", "").split(";")[0] != "application/json":
            return failed("a request is JSON", 415)
        body, size = bytearray(), 0
        async for piece in request.stream():
            size += len(piece)
            if size <= MOST_BODY:
                body += piece
            elif size > _MOST_DISCARDED:
                break
        if size > MOST_BODY:  # read to its end, since who still sends does not listen
            return failed(f"the text is longer than {MOST_BODY // 1024} KiB", 413)
        try:
            question = json.loads(bytes(body))
        except (ValueError, RecursionError):
            return failed("a request is JSON", 400)
        if not waiting.acquire(blocking=False):
            return failed("too many requests are waiting: try again", 503)
        try:
            found = await run_in_threadpool(computed, question)
        finally:
            waiting.release()
        return JSONResponse(found, headers=_HEADERS)

    return Starlette(
        routes=[
            *(Route(path, file) for path in _FILES),
            Route("/begin", begin),
            Route("/answer", answer, methods=["POST"]),
        ],
        # A name of somebody else's that leads to this machine is not ours.
        middleware=[
            Middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost", "::1"])
        ],
    )


def serve(port: int, at_once: int, *, is_trusted: bool) -> None:
    """Serves on loopback until it is interrupted; InputError where the port is taken."""
    try:
        import uvicorn
    except ImportError:
        raise InputError(_MISSING) from None
    isolation = Isolation(is_trusted=is_trusted)
    app = explorer_app(isolation, at_once)
    isolation.begin()
    try:
        uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")
    except SystemExit:
        raise InputError(f"port {port} cannot be had: name another one with --port") from None
