"""One endpoint: who may ask, how large and how slow a request may be, and what errors look like."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from lessregret.service.deadline import Deadline
from lessregret.service.measures import Measures
from lessregret.service.refusals import (
    BadInputError,
    BusyError,
    RefusedError,
    TooLargeError,
    TooSlowError,
    UnauthorizedError,
    UnavailableError,
    UnknownMediaError,
)
from lessregret.service.settings import Settings
from lessregret.service.tokens import Tokens

LOGGER = logging.getLogger("lessregret.service")
BODIES_AT_ONCE = 8
"""How many of the largest bodies may be in memory at a time."""


class Request(NamedTuple):
    """What an endpoint is told."""

    headers: dict[bytes, bytes]
    body: bytes

    def header(self, name: bytes) -> str:
        """A header as text; empty if it is not there."""
        return self.headers.get(name, b"").decode("latin-1")


class ForbiddenError(RefusedError):
    """A page of another site asks."""

    status = 403


Handler = Callable[[Request], Awaitable[Response]]


class Guard:
    """What all endpoints share: tokens, limits and the memory of bodies.

    Parameters
    ----------
    tokens : Tokens
        Who may do what; without any, everybody may do all.
    hosts : names, optional
        If given, only requests to these hosts are answered. A page that somebody opens in a
        browser on this machine could otherwise ask us under a name of its own (DNS rebinding).
    """

    def __init__(
        self, settings: Settings, tokens: Tokens, hosts: frozenset[str] | None = None
    ) -> None:
        self.settings, self.tokens, self.hosts = settings, tokens, hosts
        self._in_memory = 0
        self._most = BODIES_AT_ONCE * settings.most_body

    def check(self, headers: dict[bytes, bytes], right: str | None) -> None:
        """Raise a refusal for whoever may not ask."""
        if self.tokens:
            self._check_token(headers, right)
        else:
            self._check_site(headers)
        if headers.get(b"content-encoding", b"identity") != b"identity":
            raise UnknownMediaError("Content-Encoding: expected none")

    def _check_token(self, headers: dict[bytes, bytes], right: str | None) -> None:
        if right is None:
            return
        scheme, _, token = headers.get(b"authorization", b"").partition(b" ")
        given = token.strip().decode("latin-1")
        if scheme.lower() != b"bearer" or not self.tokens.allows(given, right):
            raise UnauthorizedError(f"expected a token for {right}: 'Authorization: Bearer TOKEN'")

    def _check_site(self, headers: dict[bytes, bytes]) -> None:
        host = headers.get(b"host", b"").decode("latin-1")
        if self.hosts is not None and _name(f"//{host}") not in self.hosts:
            raise ForbiddenError("Host: expected a name of this machine; others need tokens")
        origin = headers.get(b"origin", b"").decode("latin-1")
        if origin and urlsplit(origin).netloc != host:
            raise ForbiddenError("Origin: pages of other sites may not ask without a token")

    async def body(self, headers: dict[bytes, bytes], receive: Receive) -> bytes:
        """The whole body, if it is small enough and comes in time."""
        most = self.settings.most_body
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > most:
            raise TooLargeError(f"expected a body of at most {most:,} bytes; send several")
        try:
            with Deadline(self.settings.timeout):
                return await self._received(receive, most)
        except TimeoutError:
            raise TooSlowError("the body did not arrive in time") from None

    async def _received(self, receive: Receive, most: int) -> bytes:
        pieces: list[bytes] = []
        size = 0
        try:
            while True:
                message: Message = await receive()
                if message["type"] == "http.disconnect":
                    raise BadInputError("the client has gone")
                piece = message.get("body", b"")
                size += len(piece)
                self._take(len(piece), size, most)
                pieces.append(piece)
                if not message.get("more_body", False):
                    return pieces[0] if len(pieces) == 1 else b"".join(pieces)
        except BaseException:
            self.free(size)
            raise

    def _take(self, piece: int, size: int, most: int) -> None:
        self._in_memory += piece
        if size > most:
            raise TooLargeError(f"expected a body of at most {most:,} bytes; send several")
        if self._in_memory > self._most:
            raise BusyError("the bodies of other requests fill the memory")

    def free(self, size: int) -> None:
        """A body is done with."""
        self._in_memory -= size


def _name(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


class Endpoint:
    """An ASGI application for one path: guard, handler, answer, measure."""

    def __init__(
        self, path: str, handler: Handler, right: str | None, guard: Guard, measures: Measures
    ) -> None:
        self._path, self._handler, self._right = path, handler, right
        self._guard, self._measures = guard, measures

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = perf_counter()
        response = await self._response(scope, receive)
        await response(scope, receive, send)
        self._measures.note(self._path, response.status_code, perf_counter() - started)

    async def _response(self, scope: Scope, receive: Receive) -> Response:
        body = b""
        try:
            headers = dict(scope["headers"])
            self._guard.check(headers, self._right)
            if scope["method"] == "POST":
                body = await self._guard.body(headers, receive)
            return await self._handler(Request(headers, body))
        except RefusedError as refusal:
            return refused(refusal)
        except Exception:
            LOGGER.exception("%s failed", self._path)
            return refused(UnavailableError("an error of the service; its log says which"))
        finally:
            self._guard.free(len(body))


def refused(refusal: RefusedError) -> Response:
    """The answer to a request that is not done."""
    content = {"error": refusal.reason, **refusal.details}
    # What is left of the body is not read, so that the connection cannot be used again.
    headers = {**refusal.headers, "Connection": "close"}
    return as_json(content, refusal.status, headers)


def as_json(content: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """An answer in JSON."""
    return Response(msgspec.json.encode(content), status, headers, "application/json")


class Mailbox:
    """Brings answers of the writer to the event loop, all of one transaction in one call.

    ``asyncio.wrap_future`` wakes the loop once for each answer.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._answered: deque[tuple[asyncio.Future[Any], Future[Any]]] = deque()
        self._is_called = False

    async def answer(self, future: Future[Any]) -> Any:
        """The result of a future that another thread sets."""
        waiter: asyncio.Future[Any] = self.loop.create_future()
        future.add_done_callback(partial(self._put, waiter))
        return await waiter

    def _put(self, waiter: asyncio.Future[Any], future: Future[Any]) -> None:
        """Called by the writer. An answer comes before the flag is read: none is left behind."""
        self._answered.append((waiter, future))
        if not (self._is_called or self.loop.is_closed()):
            self._is_called = True
            self.loop.call_soon_threadsafe(self._open)

    def _open(self) -> None:
        self._is_called = False
        while self._answered:
            waiter, future = self._answered.popleft()
            if waiter.done():
                continue
            error = future.exception()
            if error is None:
                waiter.set_result(future.result())
            else:
                waiter.set_exception(error)


class _OfThread(threading.local):
    mailbox: Mailbox | None = None


_OF_THREAD = _OfThread()
"""A thread runs one event loop at a time."""


def _mailbox() -> Mailbox:
    """The mailbox of the running event loop."""
    loop, found = asyncio.get_running_loop(), _OF_THREAD.mailbox
    if found is None or found.loop is not loop:
        found = _OF_THREAD.mailbox = Mailbox(loop)
    return found


async def answer_in_time(future: Any, timeout: float) -> Any:
    """The answer of the writer. If it does not come, the client does not know what was kept."""
    try:
        with Deadline(timeout):
            return await _mailbox().answer(future)
    except TimeoutError:
        raise UnavailableError(
            "no answer in time; ask again with the same Idempotency-Key to learn what was kept"
        ) from None
