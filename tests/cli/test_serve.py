"""``lessregret serve`` as a process: addresses, tokens, TLS, signals, and the extra it needs."""

from __future__ import annotations

import http.client
import re
import shutil
import signal
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.command_line import COMMAND, ENVIRONMENT, CommandLine
from tests.support.service import LIMIT, Client, example, learned_model, new_model

WHERE = re.compile(r"serving on (https?)://127\.0\.0\.1:(\d+)/ ")


@contextmanager
def started(folder: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """The service in a process of its own, and its port."""
    process = subprocess.Popen(
        [*COMMAND, "serve", "model.safetensors", "--state", "state", "--port", "0", *options],
        cwd=folder, env=ENVIRONMENT, stderr=subprocess.PIPE, encoding="utf-8",
    )  # fmt: skip
    assert process.stderr is not None
    try:
        found = WHERE.match(process.stderr.readline())
        assert found, process.stderr.read()
        yield process, int(found[2])
    finally:
        process.kill()
        process.communicate()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM")
def test_it_serves_until_it_is_stopped_and_goes_on(tmp_path: Path) -> None:
    new_model(tmp_path)
    with started(tmp_path) as (process, port):
        client = Client(port)
        assert client.post("/learn", example(1, 1)).json["position"] == 1
        assert client.get("/health", Host="evil.example").status == 403
        process.send_signal(signal.SIGTERM)
        assert process.wait(LIMIT) in (-signal.SIGTERM, 128 + signal.SIGTERM)
    assert len(list((tmp_path / "state" / "snapshots").glob("*.safetensors"))) == 2
    with started(tmp_path) as (_, port):
        assert Client(port).post("/learn", example(2, 1)).json["position"] == 2
    assert learned_model(tmp_path)


def test_others_are_not_served_without_tokens(lessregret: CommandLine) -> None:
    new_model(lessregret.folder)
    serve = ("serve", "model.safetensors", "--state", "state")
    done = lessregret(*serve, "--host", "0.0.0.0")
    assert (done.code, done.stdout) == (2, "")
    assert "others could reach the service, and it has no tokens" in done.stderr
    token = lessregret(*serve, "--new-token", "learn").stdout
    assert re.fullmatch(r"lrg_[\w-]{43}\n", token)
    assert token.strip() not in lessregret.read("state/tokens.json").decode()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--wait", "5"], "expected a time such as 30s, 15m, 12h or 7d, found '5'"),
        (["--certificate", "c.pem"], "--certificate and --key go together"),
        (["--certificate", "c.pem", "--key", "k.pem"], "--certificate c.pem: no such file"),
        (["--follow", "nowhere"], "--follow nowhere: expected an address"),
        (["--host", "nowhere.invalid.", "--new-token", "king"], "'king' is not one of"),
    ],
)
def test_misuse_is_told(lessregret: CommandLine, options: list[str], told: str) -> None:
    new_model(lessregret.folder)
    done = lessregret("serve", "model.safetensors", "--state", "state", "--port", "0", *options)
    assert done.code == 2
    assert told in done.stderr


def test_a_missing_extra_is_named(lessregret: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    done = lessregret("serve", "model.safetensors", "--state", "state")
    assert done.code == 2
    assert "pip install 'lessregret[serve]'" in done.stderr


def test_tls_by_files(tmp_path: Path) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("no openssl on PATH to make a certificate")
    new_model(tmp_path)
    subprocess.run(
        [
            "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
            "-keyout", "key.pem", "-out", "cert.pem", "-subj", "/CN=localhost",
            "-addext", "subjectAltName=IP:127.0.0.1",
        ],
        cwd=tmp_path, check=True, capture_output=True,
    )  # fmt: skip
    with started(tmp_path, "--certificate", "cert.pem", "--key", "key.pem") as (_, port):
        trusted = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
        connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=LIMIT, context=trusted)
        connection.request("GET", "/health")
        assert connection.getresponse().status == 200
        connection.close()


@pytest.mark.parametrize("name", ["Dockerfile", "lessregret.service", "nginx.conf"])
def test_the_files_of_a_deployment_use_options_that_exist(name: str) -> None:
    from lessregret.cli.serve import command

    root = Path(__file__).parent.parent.parent
    text = (root / "examples" / "service" / name).read_text(encoding="utf-8")
    used = re.findall(r"(--[a-z-]+)", "\n".join(re.findall(r".*serve\b.*--state.*", text)))
    known = {option for parameter in command.params for option in parameter.opts}
    assert "--state" in used
    assert set(used) <= known
