"""The licence texts of all crates that are linked into the wheel, as one file.

    python .ci/licences.py            write THIRD_PARTY_LICENSES
    python .ci/licences.py --check    fail if it is not what Cargo.lock asks for

The file is committed, so that building from source needs nothing but Python and Rust. Run the
script after every change of Cargo.lock. It reads the crates where cargo keeps them and fetches
nothing; `cargo fetch --locked` fetches what is missing.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
OUTPUT = ROOT / "THIRD_PARTY_LICENSES"
BINDING = "lessregret-python"
TARGETS = (
    "x86_64-unknown-linux-gnu",
    "aarch64-unknown-linux-gnu",
    "aarch64-apple-darwin",
    "x86_64-pc-windows-msvc",
)
"""those that CI builds wheels for"""
TEXTS = re.compile(r"(licen[cs]e|copying|copyright|notice|unlicense)", re.IGNORECASE)
BORROWED = {"pulp-wasm-simd-flag": "pulp"}
"""crates that are published without a licence file, and the crate of the same repository and
licence that has one"""
STANDARD_LIBRARY = "libc"
"""its MIT licence names the Rust project, as that of the standard library does"""
HEADING = """\
Third-party licences

The extension module lessregret._core is linked with these crates and with the standard library of
Rust. Each text below is followed by the crates that it is from. Where a crate offers a choice of
licences, all are here. The crates are:

"""


class UnavailableError(Exception):
    """The crates cannot be read on this machine."""


def metadata(target: str) -> dict[str, Any]:
    """What cargo says of the workspace for one target."""
    command = ["cargo", "metadata", "--locked", "--offline", "--format-version", "1"]
    try:
        done = subprocess.run(
            [*command, "--filter-platform", target], cwd=ROOT, capture_output=True, text=True
        )
    except FileNotFoundError as error:
        raise UnavailableError("cargo is not installed") from error
    if done.returncode:
        raise UnavailableError(f"cargo metadata: {done.stderr.strip()}")
    return dict(json.loads(done.stdout))


def linked(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The packages of other people that end up in the binary: no build tools, macros or tests."""
    packages = {package["id"]: package for package in found["packages"]}
    nodes = {node["id"]: node for node in found["resolve"]["nodes"]}
    left = [key for key, package in packages.items() if package["name"] == BINDING]
    seen = set(left)
    while left:
        for dependency in nodes[left.pop()]["deps"]:
            normal = any(kind["kind"] is None for kind in dependency["dep_kinds"])
            key = dependency["pkg"]
            if normal and key not in seen and not is_macro(packages[key]):
                seen.add(key)
                left.append(key)
    return {title(packages[key]): packages[key] for key in seen if packages[key]["source"]}


def is_macro(package: dict[str, Any]) -> bool:
    """Whether the package runs in the compiler only."""
    return any("proc-macro" in target["kind"] for target in package["targets"])


def title(package: dict[str, Any]) -> str:
    """Name, version and licence."""
    return f"{package['name']} {package['version']} ({package['license']})"


def texts_of(package: dict[str, Any]) -> list[str]:
    """The licence files of a package, with plain line ends."""
    folder = Path(package["manifest_path"]).parent
    files = sorted(path for path in folder.iterdir() if path.is_file() and TEXTS.match(path.name))
    raw = [path.read_text(encoding="utf-8", errors="replace") for path in files]
    return ["\n".join(line.rstrip() for line in text.splitlines()).strip("\n") for text in raw]


def lender(package: dict[str, Any], by_name: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The crate whose licence file stands for that of a crate without one."""
    if package["name"] not in BORROWED:
        raise SystemExit(f"{title(package)} has no licence file; name a crate that has in BORROWED")
    return by_name[BORROWED[package["name"]]]


def collected() -> dict[str, tuple[str, list[str]]]:
    """Every text once, by its words, with the crates that it is from."""
    crates: dict[str, dict[str, Any]] = {}
    for target in TARGETS:
        crates |= linked(metadata(target))
    by_name = {package["name"]: package for package in crates.values()}
    found: dict[str, tuple[str, list[str]]] = {}
    for name, package in sorted(crates.items()):
        for text in texts_of(package) or texts_of(lender(package, by_name)):
            found.setdefault(" ".join(text.split()), (text, []))[1].append(name)
    for text, names in found.values():
        if "Permission is hereby granted" in text and any(
            name.startswith(f"{STANDARD_LIBRARY} ") for name in names
        ):
            names.append("the standard library of Rust (MIT OR Apache-2.0)")
    return found


def document() -> str:
    """The whole file."""
    rule = "-" * 80
    texts = collected().values()
    crates = sorted({name for _, names in texts for name in names})
    parts = [HEADING + "".join(f"  {name}\n" for name in crates)]
    for text, names in texts:
        sources = "\n".join(f"  {name}" for name in names)
        parts.append(f"{rule}\n{text}\n\nThis text is from:\n{sources}\n")
    return "\n".join(parts)


def main() -> int:
    """Write the file or check it."""
    wanted = document()
    if "--check" not in sys.argv[1:]:
        OUTPUT.write_text(wanted, encoding="utf-8")
        return 0
    if OUTPUT.read_text(encoding="utf-8") == wanted:
        return 0
    print("THIRD_PARTY_LICENSES is not up to date: run python .ci/licences.py", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
