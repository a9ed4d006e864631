"""Are the metrics of a run those of its predictions, in all and over its last tenth?"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from lessregret import train
from lessregret.training.metrics import exact_auc, sums_of
from lessregret.training.run import Training
from tests.support.command_line import CommandLine

EXAMPLES = 3000


def labels_of(path: Path) -> np.ndarray:
    return np.array([float(line.split()[0]) for line in path.read_text().splitlines()])


@pytest.fixture(scope="module")
def clicks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from lessregret.data.generate import ClickWorld, impressions, vw_lines

    path = tmp_path_factory.mktemp("clicks") / "clicks.vw"
    world = ClickWorld(seed=3, queries=200, ads=100, advertisers=10, words=200)
    path.write_bytes(b"".join(vw_lines(world, block) for block in impressions(world, EXAMPLES)))
    return path


def margins_of(clicks: Path, tmp_path: Path) -> tuple[np.ndarray, Training]:
    """The margins by the predictions that the run wrote, and the run."""
    written = tmp_path / "predictions"
    training = train(clicks, bits=16, loss="hinge", predictions=written)
    return np.loadtxt(written), training


def test_the_metrics_of_a_run_are_those_of_its_predictions(clicks: Path, tmp_path: Path) -> None:
    margins, training = margins_of(clicks, tmp_path)
    labels = labels_of(clicks)
    assert training.metrics is not None
    found, expected = training.metrics.all, sums_of("hinge", margins, labels, np.ones(EXAMPLES))
    # Predictions are written with six digits.
    assert found.sums == pytest.approx(expected, rel=1e-4)
    assert found.auc == pytest.approx(exact_auc(margins, labels, np.ones(EXAMPLES)), abs=1e-4)
    assert found.mean_loss == pytest.approx(training.ledger.mean_loss)


def test_the_last_tenth_is_the_end_of_the_run(clicks: Path, tmp_path: Path) -> None:
    margins, training = margins_of(clicks, tmp_path)
    assert training.metrics is not None
    late = training.metrics.last_tenth
    assert late is not None
    count = late.sums.examples
    assert 0.08 * EXAMPLES <= count <= 0.17 * EXAMPLES
    expected = sums_of("hinge", margins[-count:], labels_of(clicks)[-count:], np.ones(count))
    assert late.sums == pytest.approx(expected, rel=1e-4)


def test_short_runs_have_no_last_tenth(tmp_path: Path) -> None:
    path = tmp_path / "log.vw"
    path.write_text("1 |a b\n-1 |a c\n" * 499)
    training = train(path, bits=10)
    assert training.metrics is not None
    assert training.metrics.last_tenth is None
    assert training.metrics.all.sums.examples == 998


@pytest.mark.parametrize("threads", [1, 2])
def test_slices_add_up_to_the_whole(clicks: Path, threads: int) -> None:
    training = train(clicks, bits=16, by=["p", "q"], threads=threads)
    assert training.metrics is not None
    places, queries = training.metrics.slices
    assert [slice_.value for slice_ in places.slices] == ["p0", "p1", "p2", "p3"]
    for slicing in (places, queries):
        sums = [slice_.scores.sums for slice_ in slicing.slices]
        for name in ("examples", "importance", "loss", "mistakes", "predicted"):
            total = sum(getattr(each, name) for each in sums)
            assert total == pytest.approx(getattr(training.metrics.all.sums, name), rel=1e-12)


def test_slices_change_nothing_else(clicks: Path) -> None:
    plain, sliced = (train(clicks, bits=16, by=by) for by in ((), "p"))
    assert plain.learner.to_bytes() == sliced.learner.to_bytes()
    assert plain.metrics is not None
    assert sliced.metrics is not None
    assert plain.metrics.all == sliced.metrics.all


ROWS = """country,hour,age,clicked
nl,1,30,yes
de,1,40,no
,2,50,no
nl,2,35,yes
"""


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_tables_are_sliced_by_columns(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(ROWS)
    if suffix == ".parquet":
        import duckdb

        target = tmp_path / "rows.parquet"
        duckdb.sql(f"COPY (SELECT * FROM read_csv('{path}')) TO '{target}' (FORMAT parquet)")
        path = target
    training = train(
        path, label="clicked", bits=10, columns={"ignore": ["hour"]}, by=("country", "hour")
    )
    assert training.metrics is not None
    found = [
        {slice_.value: slice_.scores.sums.examples for slice_ in slicing.slices}
        for slicing in training.metrics.slices
    ]
    assert found == [{"nl": 2, "(missing)": 1, "de": 1}, {"1": 2, "2": 2}]


def test_the_command_tells_slices(lessregret: CommandLine, clicks: Path) -> None:
    done = lessregret("train", str(clicks), "--by", "p", "--json", "--report", "page.html")
    assert done.code == 0
    slices = json.loads(done.stdout)["metrics"]["slices"]["p"]
    assert [slice_["value"] for slice_ in slices] == ["p0", "p1", "p2", "p3"]
    assert sum(slice_["count"] for slice_ in slices) == EXAMPLES
    assert "p   examples  mean loss  best constant  ratio  calibration" in done.stderr
    assert "sliced by" in lessregret.read("page.html").decode()


def test_what_cannot_be_sliced_by_is_told(lessregret: CommandLine) -> None:
    lessregret.write("rows.csv", ROWS)
    lessregret.write("rows.svm", "1 1:1\n-1 2:1\n")
    done = lessregret("train", "rows.csv", "--label", "clicked", "--by", "city")
    assert done.code == 2
    assert "by: the model has no column 'city'; it has country" in done.stderr
    done = lessregret("train", "rows.svm", "--by", "city")
    assert done.code == 1
    assert "expected Vowpal Wabbit text, which has namespaces (slices by city)" in done.stderr
