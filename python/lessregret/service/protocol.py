"""uvicorn's HTTP protocol with two limits more: on the size of headers, and on their slowness.

uvicorn bounds how long a connection may idle between two requests, and how many there may be. A
client that sends its headers byte by byte, or without end, would hold a connection for ever.
"""

from __future__ import annotations

from asyncio.events import TimerHandle
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from lessregret.service.settings import Settings


class BoundedProtocol(HttpToolsProtocol):
    """Ends connections whose headers are too large or do not come in time."""

    settings = Settings()

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._timer: TimerHandle | None = None
        self._size = 0
        self._in_headers = True

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._start_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._in_headers:
            self._size += len(data)
            # What comes with the headers may be the body; a header alone may be this large.
            if self._size > self.settings.most_header and not self._ends_headers(data):
                self.send_400_response("The headers are too large.")
                return
        super().data_received(data)

    def _ends_headers(self, data: bytes) -> bool:
        start = max(0, self._size - len(data))
        end = data.find(b"\r\n\r\n")
        return end >= 0 and start + end <= self.settings.most_header

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_headers = True
        if self._timer is None:
            self._start_timer()

    def on_headers_complete(self) -> None:
        self._in_headers, self._size = False, 0
        self._stop_timer()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._in_headers = True
        super().on_message_complete()

    def _start_timer(self) -> None:
        self._timer = self.loop.call_later(self.settings.timeout, self._too_slow)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _too_slow(self) -> None:
        self._timer = None
        if not self.transport.is_closing():
            self.transport.close()


def bounded(settings: Settings) -> type[BoundedProtocol]:
    """The protocol with these limits."""
    return type("Protocol", (BoundedProtocol,), {"settings": settings})
