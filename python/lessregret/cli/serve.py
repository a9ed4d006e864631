"""``lessregret serve``: learn while serving, over HTTP."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lessregret.errors import SpecError

if TYPE_CHECKING:
    from lessregret.service.replica import Replica
    from lessregret.service.settings import Settings
    from lessregret.service.tokens import Tokens

UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}


def duration(text: str) -> float:
    """Seconds of a time such as 30s, 15m, 12h or 7d."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd])", text)
    if found is None:
        raise click.BadParameter(f"expected a time such as 30s, 15m, 12h or 7d, found {text!r}")
    return float(found[1]) * UNITS[found[2]]


@click.command("serve")
@click.argument("model", type=click.Path(dir_okay=False))
@click.option(
    "--state",
    required=True,
    type=click.Path(file_okay=False),
    help="The folder of the log, the snapshots and the hashes of tokens. It is created if it is "
    "not there.",
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="The address to listen on. Addresses that others can reach need tokens.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="The port to listen on; 0 takes a free one, which is printed.",
)
@click.option(
    "--durability",
    type=click.Choice(["full", "normal"]),
    default="full",
    show_default=True,
    help="'full' acknowledges an example when the disk has it, so that a power cut loses nothing. "
    "'normal' acknowledges it when the system has it: a kill of the process loses nothing.",
)
@click.option(
    "--snapshot-every",
    type=click.IntRange(1),
    default=100_000,
    show_default=True,
    metavar="N",
    help="Write a snapshot every N examples.",
)
@click.option(
    "--keep",
    type=duration,
    metavar="TIME",
    default="7d",
    show_default=True,
    help="How long the log is kept, and the fates of ids and keys of requests with it. What the "
    "kept snapshots need is kept in any case.",
)
@click.option(
    "--wait",
    type=duration,
    metavar="TIME",
    default="30m",
    show_default=True,
    help="How long a prediction with an id waits for its label.",
)
@click.option(
    "--absent",
    type=click.Choice(["negative", "drop"]),
    help="What becomes of a prediction whose label did not come in time: learned as negative, or "
    "dropped. The default is negative for a classifier and drop for a regression.",
)
@click.option(
    "--queue",
    type=click.IntRange(1),
    default=1024,
    show_default=True,
    metavar="N",
    help="Requests that may wait to be learned; more are told to come again.",
)
@click.option(
    "--most-body",
    type=click.IntRange(1),
    default=16,
    show_default=True,
    metavar="MIB",
    help="The largest body of a request, in MiB.",
)
@click.option(
    "--most-batch",
    type=click.IntRange(1),
    default=100_000,
    show_default=True,
    metavar="N",
    help="The largest number of examples in a request.",
)
@click.option(
    "--timeout",
    type=duration,
    metavar="TIME",
    default="30s",
    show_default=True,
    help="How long a request may take to arrive, and its answer to be made.",
)
@click.option("--certificate", type=click.Path(dir_okay=False), help="The TLS certificate (PEM).")
@click.option("--key", type=click.Path(dir_okay=False), help="The key of the certificate (PEM).")
@click.option(
    "--root-path",
    default="",
    metavar="PATH",
    help="The path under which a proxy shows the service, such as /model.",
)
@click.option(
    "--follow",
    metavar="URL",
    help="Be a read-only replica: predict with the newest snapshot of the service at URL. MODEL is "
    "what to begin with, and the state folder holds tokens only.",
)
@click.option(
    "--follow-token",
    type=click.Path(dir_okay=False),
    help="A file with an admin token of the followed service.",
)
@click.option(
    "--new-token",
    type=click.Choice(["predict", "learn", "admin"]),
    help="Write a new token to stdout and end. Its hash is kept in the state folder; 'admin' may "
    "do all.",
)
def command(model: str, state: str, new_token: str | None, **options: Any) -> None:
    """Serve MODEL over HTTP, and go on learning. Needs: pip install 'lessregret[serve]'.

    An example is acknowledged when it is in the log. After any stop, the next start has the very
    bits of a learner that never stopped. MODEL itself is not changed: the state folder holds
    snapshots, and GET /model gives the newest.
    """
    _check_installed()
    from lessregret.service.tokens import Tokens

    folder = Path(state)
    tokens = Tokens.load(folder / "tokens.json")
    if new_token is not None:
        folder.mkdir(parents=True, exist_ok=True)
        click.echo(tokens.new(new_token, folder / "tokens.json"))
        return
    _serve(Path(model), folder, tokens, options)


def _check_installed() -> None:
    try:
        import msgspec  # noqa: F401
        import prometheus_client  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise SpecError(
            f"serve needs {error.name}, which is not installed: pip install 'lessregret[serve]'"
        ) from None


def _serve(model: Path, state: Path, tokens: Tokens, options: dict[str, Any]) -> None:
    from lessregret.service.application import Application
    from lessregret.service.core import open_service
    from lessregret.service.requests import Guard
    from lessregret.service.server import LOCAL_HOSTS, bound, check_address, server

    host, settings = options["host"], _settings(options)
    check_address(host, tokens)
    _check_tls(options["certificate"], options["key"])
    with bound(host, options["port"]) as listener:
        service = _replica(model, settings, options) or open_service(model, state, settings)
        application = Application(service, Guard(settings, tokens, LOCAL_HOSTS))
        try:
            running = server(
                application, settings, options["certificate"], options["key"], options["root_path"]
            )
            click.echo(_where(host, listener.getsockname()[1], options), err=True)
            running.run(sockets=[listener])
        finally:
            application.close()


def _replica(model: Path, settings: Settings, options: dict[str, Any]) -> Replica | None:
    if options["follow"] is None:
        return None
    from lessregret.service.replica import Replica

    file = options["follow_token"]
    token = None if file is None else Path(file).read_text(encoding="utf-8").strip()
    return Replica(model, options["follow"], settings, token)


def _settings(options: dict[str, Any]) -> Settings:
    from lessregret.service.settings import MIB, Settings

    names = ("durability", "snapshot_every", "keep", "wait", "absent", "queue", "timeout")
    chosen = {name: options[name] for name in names}
    body = {"most_body": options["most_body"] * MIB, "most_batch": options["most_batch"]}
    return Settings(**chosen, **body)


def _check_tls(certificate: str | None, key: str | None) -> None:
    if (certificate is None) != (key is None):
        raise SpecError("--certificate and --key go together; give both or none")
    for option, file in (("--certificate", certificate), ("--key", key)):
        if file is not None and not Path(file).is_file():
            raise SpecError(f"{option} {file}: no such file")


def _where(host: str, port: int, options: dict[str, Any]) -> str:
    scheme = "http" if options["certificate"] is None else "https"
    shown = f"[{host}]" if ":" in host else host
    return f"serving on {scheme}://{shown}:{port}{options['root_path']}/ (Ctrl-C stops)"
