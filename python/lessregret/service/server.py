"""The service as a server of its own: addresses, TLS, signals."""

from __future__ import annotations

import gc
import ipaddress
import socket
from typing import Any

import uvicorn

from lessregret.errors import SpecError
from lessregret.service.application import Application
from lessregret.service.protocol import bounded
from lessregret.service.settings import Settings
from lessregret.service.tokens import Tokens

LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})
MOST_CONNECTIONS = 1000
BACKLOG = 512
"""connections that may wait to be taken, also while the model is read"""
GRACE = 10
"""seconds that requests have to end when the service is stopped"""


def check_address(host: str, tokens: Tokens) -> None:
    """Raise a :class:`SpecError` if others could reach a service that has no tokens."""
    if not is_loopback(host) and not tokens:
        raise SpecError(
            f"--host {host}: others could reach the service, and it has no tokens; make some with "
            "--new-token, or use --host 127.0.0.1"
        )


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address.

    >>> is_loopback("localhost"), is_loopback("127.0.0.1"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens, so that an address in use is an error before the model is read."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        cure = "give another --host or --port"
        raise SpecError(f"--host {host} --port {port}: {error.strerror}; {cure}") from None
    return listener


class Server(uvicorn.Server):
    """Ends the streams of those who watch before it waits for requests to end."""

    def __init__(self, config: uvicorn.Config, application: Application) -> None:
        super().__init__(config)
        self._application = application

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start. What was made until now stays, so the garbage collector need not walk over it."""
        gc.collect()
        gc.freeze()
        await super().startup(sockets)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop."""
        self._application.end_streams()
        await super().shutdown(sockets)


def server(
    application: Application,
    settings: Settings,
    certificate: str | None = None,
    key: str | None = None,
    root_path: str = "",
) -> Server:
    """A server for an application. Nobody's address or request is written down."""
    options: dict[str, Any] = {}
    if certificate is not None:
        options = {"ssl_certfile": certificate, "ssl_keyfile": key}
    config = uvicorn.Config(
        application,
        http=bounded(settings),
        ws="none",
        access_log=False,
        log_level="warning",
        server_header=False,
        proxy_headers=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_graceful_shutdown=GRACE,
        root_path=root_path,
        **options,
    )
    return Server(config, application)
