"""Does the check of a wheel see what is wrong, and are the licence texts those of Cargo.lock?

The wheel itself is built and tried by ``.ci/wheel``.
"""

from __future__ import annotations

import importlib.util
import re
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent
NAME = "lessregret-0.1.0-cp310-abi3-manylinux_2_28_x86_64.whl"
MODULE = "lessregret/_core.abi3.so"
LICENCE = "lessregret-0.1.0.dist-info/licenses/"


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / ".ci" / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


check_wheel, licences = script("check_wheel"), script("licences")

GOOD = {
    MODULE: b"GLIBC_2.4\0GLIBC_2.28\0cargo/serde-1.0/src/lib.rs",
    f"{LICENCE}LICENSE": (ROOT / "LICENSE").read_bytes(),
    f"{LICENCE}THIRD_PARTY_LICENSES": (ROOT / "THIRD_PARTY_LICENSES").read_bytes(),
}


def problems(folder: Path, name: str = NAME, **changes: bytes) -> list[str]:
    """What is said of a wheel with these files; without content they are left out."""
    wheel = folder / name
    with zipfile.ZipFile(wheel, "w") as archive:
        for file, content in {**GOOD, **changes}.items():
            if content:
                archive.writestr(file, content)
    return list(check_wheel.problems(wheel))


def test_a_good_wheel(tmp_path: Path) -> None:
    assert problems(tmp_path) == []


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({MODULE: f"{ROOT}/crates/core".encode()}, f"{MODULE} holds {ROOT}/"),
        ({MODULE: f"{Path.home()}/.cargo/registry".encode()}, f"{MODULE} holds {Path.home()}/"),
        ({"x/sbom.json": f"{ROOT}/crates".encode()}, f"x/sbom.json holds {ROOT}/"),
        ({MODULE: b"GLIBC_2.31"}, "but the module needs glibc 2.31"),
        ({f"{LICENCE}LICENSE": b""}, "LICENSE is not in the wheel"),
        ({f"{LICENCE}THIRD_PARTY_LICENSES": b""}, "THIRD_PARTY_LICENSES is not in the wheel"),
        ({f"{LICENCE}THIRD_PARTY_LICENSES": b"old"}, "is not the one of the repository"),
    ],
    ids=lambda value: None if isinstance(value, dict) else str(value)[-40:],
)
def test_what_is_wrong_inside_is_told(
    tmp_path: Path, changes: dict[str, bytes], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CARGO_HOME", raising=False)
    found = problems(tmp_path, **changes)
    assert [problem for problem in found if told in problem], found


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("lessregret-0.1.0-cp311-cp311-manylinux_2_28_x86_64.whl", "expected cp310-abi3-"),
        ("lessregret-0.1.0-cp310-abi3-linux_x86_64.whl", "expected a manylinux platform"),
        ("lessregret-0.1.0-cp310-abi3-manylinux_2_17_x86_64.whl", "needs glibc 2.28"),
        ("other-0.1.0-cp310-abi3-win_amd64.whl", "no name of a wheel of lessregret"),
    ],
)
def test_tags_that_promise_something_else_are_told(tmp_path: Path, name: str, told: str) -> None:
    [problem] = problems(tmp_path, name)
    assert told in problem


def test_a_wheel_that_stays_may_hold_paths_in_its_module(tmp_path: Path) -> None:
    here = f"{ROOT}/crates".encode()
    problems(tmp_path, **{MODULE: here, "x/sbom.json": here})
    [*found] = check_wheel.problems(tmp_path / NAME, own_machine=True)
    assert {problem.split()[0] for problem in found} == {"x/sbom.json"}
    local = "lessregret-0.1.0-cp310-abi3-linux_x86_64.whl"
    problems(tmp_path, local)
    assert check_wheel.problems(tmp_path / local, own_machine=True) == []


def test_the_crates_with_licence_texts_are_in_cargo_lock() -> None:
    text = (ROOT / "THIRD_PARTY_LICENSES").read_text(encoding="utf-8")
    listed = re.findall(r"^  ([\w-]+) (\d\S*) \(", text.split("\n----")[0], re.MULTILINE)
    lock = (ROOT / "Cargo.lock").read_text(encoding="utf-8")
    locked = re.findall(r'^name = "(.+)"\nversion = "(.+)"\nsource', lock, re.MULTILINE)
    assert len(listed) > 30
    assert set(listed) <= set(locked)


def test_the_licence_texts_are_those_of_the_linked_crates() -> None:
    try:
        wanted = licences.document()
    except licences.UnavailableError as error:
        pytest.skip(f"the crates cannot be read here: {error}")
    text = (ROOT / "THIRD_PARTY_LICENSES").read_text(encoding="utf-8")
    assert text == wanted, "run python .ci/licences.py"
