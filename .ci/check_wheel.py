"""Is a wheel fit to be given to others?

    python .ci/check_wheel.py WHEEL [--own-machine]

Checked are the tags, the licence texts, that no path of the machine that built it is inside, and
that it installs and runs on every Python from 3.10 to 3.13 that is here. `--own-machine` is for a
wheel that stays where it was built: its extension module may hold paths of the machine, and only
the oldest and the newest Python that are here are tried.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHONS = ("3.10", "3.11", "3.12", "3.13")
NAME = re.compile(r"lessregret-(?P<version>[^-]+)-(?P<tags>[^-]+-[^-]+-[^-]+)\.whl")
LICENCES = ("LICENSE", "THIRD_PARTY_LICENSES")
DATA = "1 |a b c:0.5\n-1 |a d\n" * 20


def problems(wheel: Path, *, own_machine: bool = False) -> list[str]:
    """What is wrong with a wheel that need not be installed to see it."""
    with zipfile.ZipFile(wheel) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    found = [*wrong_tags(wheel.name, files, own_machine), *missing_licences(files)]
    for name, content in files.items():
        if not (own_machine and name.endswith((".so", ".pyd"))):
            found += [
                f"{name} holds {path}" for path in machine_paths() if path.encode() in content
            ]
    return found


def wrong_tags(name: str, files: dict[str, bytes], own_machine: bool) -> Iterator[str]:
    """One wheel serves Python 3.10 and later; on Linux it says which glibc it needs."""
    match = NAME.fullmatch(name)
    if match is None:
        yield f"{name} is no name of a wheel of lessregret"
        return
    tags = match["tags"]
    if not tags.startswith("cp310-abi3-"):
        yield f"the tags are {tags}; expected cp310-abi3-PLATFORM"
    # pip does not ask maturin for a manylinux tag.
    if "-linux_" in tags and not own_machine:
        yield f"the tags are {tags}; expected a manylinux platform, which says what it needs"
    glibc = re.search(r"manylinux_(\d+)_(\d+)", tags)
    needed = max(versions_of_glibc(files), default=(0, 0))
    if glibc and needed > (int(glibc[1]), int(glibc[2])):
        yield f"the tags are {tags}, but the module needs glibc {needed[0]}.{needed[1]}"


def versions_of_glibc(files: dict[str, bytes]) -> Iterator[tuple[int, int]]:
    """The versions of glibc that extension modules ask for."""
    for name, content in files.items():
        if name.endswith(".so"):
            for major, minor in re.findall(rb"GLIBC_(\d+)\.(\d+)", content):
                yield int(major), int(minor)


def missing_licences(files: dict[str, bytes]) -> Iterator[str]:
    """The wheel holds the texts as they are in the repository."""
    for licence in LICENCES:
        inside = [name for name in files if name.endswith(f".dist-info/licenses/{licence}")]
        if not inside:
            yield f"{licence} is not in the wheel"
        elif files[inside[0]] != (ROOT / licence).read_bytes():
            yield f"{licence} is not the one of the repository"


def machine_paths() -> list[str]:
    """Folders of this machine that nobody else should read about."""
    cargo = os.environ.get("CARGO_HOME", str(Path.home() / ".cargo"))
    rustup = os.environ.get("RUSTUP_HOME", str(Path.home() / ".rustup"))
    # A home directory that is a root, as in some containers, would be found in every path.
    home = [str(Path.home())] if len(Path.home().parts) > 1 else []
    return list(dict.fromkeys([f"{cargo}/", f"{rustup}/", f"{ROOT}/", *(f"{h}/" for h in home)]))


def interpreter(version: str) -> str | None:
    """A Python of this version, from PATH or from pyenv; pyenv's own shims may not run."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    candidates = [shutil.which(f"python{version}"), *pyenv.glob(f"{version}.*/bin/python")]
    for candidate in filter(None, candidates):
        asked = [str(candidate), "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        done = subprocess.run(asked, capture_output=True, text=True)
        if done.returncode == 0 and done.stdout.strip() == version:
            return str(candidate)
    return None


def try_out(wheel: Path, python: str, folder: Path) -> str | None:
    """Install the wheel in a fresh environment, train, predict and run the demo; what failed."""
    subprocess.run([python, "-m", "venv", str(folder / "env")], check=True)
    programs = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
    (folder / "data.vw").write_text(DATA)
    install = [str(programs / "python"), "-m", "pip", "install", "--quiet"]
    # The environment is thrown away, so compiling its modules would be a waste.
    install += ["--only-binary=:all:", "--no-compile"]
    command = str(programs / "lessregret")
    # CI's own versions of dependencies are for one Python; a user gets those that suit theirs.
    unwanted = ("PIP_CONSTRAINT", "PYTHONPATH")
    environment = {key: value for key, value in os.environ.items() if key not in unwanted}
    for step in (
        [*install, str(wheel)],
        [command, "train", "data.vw", "--model", "model", "--quiet"],
        [command, "predict", "model", "data.vw", "--output", "predictions"],
        [command, "demo", "--examples", "2000"],
    ):
        done = subprocess.run(step, cwd=folder, env=environment, capture_output=True, text=True)
        if done.returncode:
            return f"{' '.join(step[:3])}: {done.stderr.strip()}"
    lines = (folder / "predictions").read_text().splitlines()
    return None if len(lines) == DATA.count("\n") else f"predict wrote {len(lines)} lines"


def check_pythons(wheel: Path, *, ends: bool) -> list[str]:
    """Every Python that is here, or the oldest and the newest; those that are not are named."""
    here = {version: interpreter(version) for version in PYTHONS}
    for version in [version for version, python in here.items() if python is None]:
        print(f"Python {version}: not on this machine, skipped", flush=True)
    tried = [(version, python) for version, python in here.items() if python is not None]
    failed = []
    for version, python in [*tried[:1], *tried[1:][-1:]] if ends else tried:
        with tempfile.TemporaryDirectory() as folder:
            wrong = try_out(wheel.resolve(), python, Path(folder))
        print(f"Python {version}: {'installs and runs' if wrong is None else 'fails'}", flush=True)
        failed += [f"Python {version}: {wrong}"] if wrong else []
    return failed


def main(arguments: list[str]) -> int:
    """Check one wheel and tell what is wrong with it."""
    wheel = Path(next(argument for argument in arguments if not argument.startswith("--")))
    own_machine = "--own-machine" in arguments
    found = problems(wheel, own_machine=own_machine)
    if own_machine:
        print("paths in the extension module are not checked: the wheel stays on this machine")
    found += check_pythons(wheel, ends=own_machine)
    for problem in found:
        print(f"{wheel.name}: {problem}", file=sys.stderr)
    print(f"{wheel.name}: {'not fit' if found else 'as it should be'}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
