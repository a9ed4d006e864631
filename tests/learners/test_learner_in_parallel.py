"""Does a second thread beside the one that learns change anything but the time?"""

import random
from pathlib import Path
from typing import Any

import pytest

from lessregret import Learner, open_examples
from lessregret.errors import DivergedError

LINES = 30_000
# No gradient of such an importance can be squared in float32.
BAD = "1 1e30 | a:1 w7:2\n"


def lines() -> list[str]:
    """Columns, one of them constant, and words: about three megabytes."""
    draw = random.Random(4)
    rows = []
    for _ in range(LINES):
        label = draw.choice(("-1", "1"))
        words = " ".join(f"w{draw.randrange(5000)}:{draw.random():.4f}" for _ in range(6))
        rows.append(f"{label} | a:{draw.gauss(100, 3):.3f} b:{draw.randrange(3)} c:7 {words}\n")
    return rows


def learned(
    path: Path, threads: int, *, limit: int | None = None, **settings: Any
) -> tuple[bytes, list[float], bool]:
    """The model file, the margins, and whether a round could not be learned."""
    learner = Learner(settings.pop("loss", "logistic"), bits=16, **settings)
    stream, margins, diverged = open_examples([path], learner, threads=threads), [], False
    try:
        while block := learner.learn(stream, limit=limit or LINES):
            margins += block.margins.tolist()
    except DivergedError:
        diverged = True
    model = path.with_suffix(f".{threads}.model")
    learner.save(model)
    return model.read_bytes(), margins, diverged


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("parallel") / "data.vw"
    path.write_text("".join(lines()), encoding="utf-8")
    return path


@pytest.mark.parametrize("limit", [None, 7_001])
@pytest.mark.parametrize(
    "settings",
    [{}, {"loss": "squared"}, {"loss": "hinge", "scale": "none"}, {"l2": 0.01}],
    ids=["default", "standardised labels", "no scale", "l2"],
)
def test_the_number_of_threads_changes_no_bit(
    data: Path, settings: dict[str, Any], limit: int | None
) -> None:
    one = learned(data, 1, limit=limit, **settings)
    assert len(one[1]) == LINES
    assert not one[2]
    for threads in (2, 4):
        assert learned(data, threads, limit=limit, **settings) == one


@pytest.mark.parametrize("settings", [{}, {"loss": "squared"}], ids=["default", "squared"])
@pytest.mark.parametrize("bad", [12_345, 25_000])
def test_an_error_leaves_what_was_learned_before_it(
    tmp_path: Path, bad: int, settings: dict[str, Any]
) -> None:
    rows = lines()
    before, broken = tmp_path / "before.vw", tmp_path / "broken.vw"
    before.write_text("".join(rows[:bad]), encoding="utf-8")
    broken.write_text("".join([*rows[:bad], BAD, *rows[bad:]]), encoding="utf-8")
    model, margins, _ = learned(before, 1, **settings)
    for threads in (1, 2, 4):
        found, some, diverged = learned(broken, threads, **settings)
        assert (found == model, diverged) == (True, True)
        # Margins of blocks before that of the error are told, however many blocks a call learns.
        assert some == margins[: len(some)]
