"""The ASGI application: paths and what they do. It runs alone or mounted in another one."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from lessregret.errors import SpecError
from lessregret.service.bodies import media_type
from lessregret.service.core import Service, open_service
from lessregret.service.openapi import docs_page, document
from lessregret.service.refusals import BadInputError, BusyError
from lessregret.service.replica import Replica
from lessregret.service.requests import Endpoint, Guard, Handler, Request, answer_in_time, as_json
from lessregret.service.settings import Settings
from lessregret.service.status import EVERY, Status
from lessregret.service.tokens import Tokens

SMALL = 8192
"""Bytes of a body that is predicted at once: to hand it to a thread would take longer."""
KEY_LENGTH = 256
PIECE = 1 << 20
MOST_WATCHERS = 16
PAGE = Path(__file__).parent / "live.html"
PAGE_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; connect-src 'self'; frame-ancestors 'none'",
}


class Application(Starlette):
    """The service as an ASGI application; :func:`app` creates it."""

    def __init__(self, service: Service | Replica, guard: Guard) -> None:
        self.service = service
        self._guard = guard
        self._status = Status(service)
        self._watchers = 0
        self._ends = threading.Event()
        self._direct: dict[str, Endpoint] = {}
        super().__init__(routes=self._routes(), lifespan=self._lifespan)

    def close(self) -> None:
        """Do what waits, write a snapshot and end. Where it is mounted, the host calls this."""
        self.end_streams()
        self.service.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer; those that are asked most do not pass through Starlette's router."""
        if scope["type"] == "http" and scope["method"] == "POST" and not scope.get("root_path"):
            endpoint = self._direct.get(scope["path"])
            if endpoint is not None:
                await endpoint(scope, receive, send)
                return
        await super().__call__(scope, receive, send)

    def end_streams(self) -> None:
        """Tell the streams of live pages to end, so that a server that stops need not wait."""
        self._ends.set()

    @asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(self.close)

    def _routes(self) -> list[Route]:
        return [
            self._route("POST", "/predict", self._predict, "predict"),
            self._route("POST", "/learn", self._learn, "learn"),
            self._route("POST", "/outcome", self._outcome, "learn"),
            self._route("POST", "/snapshot", self._snapshot, "admin"),
            self._route("GET", "/model", self._model, "admin"),
            self._route("GET", "/metrics", self._metrics, "admin"),
            self._route("GET", "/events", self._events, "admin"),
            self._route("GET", "/", self._page, None),
            self._route("GET", "/health", self._health, None),
            self._route("GET", "/ready", self._ready, None),
            self._route("GET", "/docs", self._docs, None),
            self._route("GET", "/openapi.json", self._openapi, None),
        ]

    def _route(self, method: str, path: str, handler: Handler, right: str | None) -> Route:
        endpoint = Endpoint(path, handler, right, self._guard, self.service.measures)
        if method == "POST":
            self._direct[path] = endpoint
        return Route(path, endpoint, methods=[method], name=path)

    async def _predict(self, request: Request) -> Response:
        media = media_type(request.header(b"content-type"))
        predict = partial(self.service.predict, media, request.body)
        found = predict() if len(request.body) <= SMALL else await asyncio.to_thread(predict)
        answer: dict[str, Any] = (
            {"predictions": found.numbers} if found.is_many else {"prediction": found.numbers[0]}
        )
        answer |= found.about
        if found.to_keep:
            answer |= await self._answered(self.service.keep(found.to_keep))
        return as_json(answer)

    async def _learn(self, request: Request) -> Response:
        media = media_type(request.header(b"content-type"))
        key = request.header(b"idempotency-key") or None
        if key is not None and len(key) > KEY_LENGTH:
            raise BadInputError(f"Idempotency-Key: expected at most {KEY_LENGTH} characters")
        learn = partial(self.service.learn, media, request.body, key)
        future = learn() if len(request.body) <= SMALL else await asyncio.to_thread(learn)
        return as_json(await self._answered(future))

    async def _outcome(self, request: Request) -> Response:
        media = media_type(request.header(b"content-type"))
        return as_json(await self._answered(self.service.settle(media, request.body)))

    async def _snapshot(self, request: Request) -> Response:
        return as_json(await self._answered(self.service.snapshot()))

    async def _answered(self, future: Any) -> dict[str, Any]:
        answer: dict[str, Any] = await answer_in_time(future, self._guard.settings.timeout)
        return answer

    async def _model(self, request: Request) -> Response:
        """The newest snapshot; a client that has it already is told so."""
        snapshot = self.service.newest_snapshot()
        tag = f'"{snapshot.digest}"'
        headers = {"ETag": tag, "X-Log-Position": str(snapshot.position)}
        known = request.header(b"if-none-match")
        if known == "*" or tag in (each.strip().removeprefix("W/") for each in known.split(",")):
            return Response(status_code=304, headers=headers)
        headers["Content-Length"] = str(snapshot.path.stat().st_size)
        # Open now: a newer snapshot may remove the name while the file is sent.
        pieces = _pieces(snapshot.path.open("rb"))
        return StreamingResponse(pieces, headers=headers, media_type="application/octet-stream")

    async def _metrics(self, request: Request) -> Response:
        text = await asyncio.to_thread(self.service.measures.text)
        return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")

    async def _page(self, request: Request) -> Response:
        """The live page; it has no data of its own and asks /events."""
        return HTMLResponse(PAGE.read_text(encoding="utf-8"), headers=PAGE_HEADERS)

    async def _events(self, request: Request) -> Response:
        """The state of the service every second, as server-sent events."""
        if self._watchers >= MOST_WATCHERS:
            raise BusyError(f"{MOST_WATCHERS} watch already")
        return StreamingResponse(self._told(), media_type="text/event-stream")

    async def _told(self) -> AsyncIterator[bytes]:
        self._watchers += 1
        try:
            while not self._ends.is_set():
                document = await asyncio.to_thread(self._status.document)
                yield b"data: " + msgspec.json.encode(document) + b"\n\n"
                await asyncio.sleep(EVERY)
        finally:
            self._watchers -= 1

    async def _health(self, request: Request) -> Response:
        return as_json({"status": "ok"})

    async def _ready(self, request: Request) -> Response:
        found = self.service.readiness()
        return as_json(found, 200 if found["ready"] else 503)

    async def _docs(self, request: Request) -> Response:
        return HTMLResponse(docs_page())

    async def _openapi(self, request: Request) -> Response:
        return as_json(document())


async def _pieces(file: Any) -> AsyncIterator[bytes]:
    with file:
        while piece := await asyncio.to_thread(file.read, PIECE):
            yield piece


def app(
    model: str | os.PathLike[str],
    *,
    state: str | os.PathLike[str],
    tokens: Tokens | None = None,
    hosts: frozenset[str] | None = None,
    **settings: Any,
) -> Application:
    """A service as an ASGI application, to be run by uvicorn or mounted in another application.

    The state folder is opened and locked at once; the log is then read in a thread of its own, and
    ``/ready`` says when that is done.

    Parameters
    ----------
    model : path
        The model file to begin with. It is not changed; when the state folder has a snapshot, the
        service goes on from that.
    state : path
        The folder of the log and the snapshots. It is created if it is not there.
    tokens : Tokens, optional
        Who may do what. The default are those in the state folder; without any there, whoever
        reaches the application may do all.
    hosts : names, optional
        The hosts that requests without tokens must be for.
    settings
        The fields of :class:`Settings`.
    """
    try:
        chosen = Settings(**settings)
    except TypeError:
        unknown = sorted(set(settings) - set(Settings.__dataclass_fields__))
        raise SpecError(f"unknown settings: {', '.join(unknown)}") from None
    if tokens is None:
        tokens = Tokens.load(Path(state) / "tokens.json")
    service = open_service(Path(model), Path(state), chosen)
    return Application(service, Guard(chosen, tokens, hosts))
