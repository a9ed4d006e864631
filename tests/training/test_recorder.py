"""Does recording change nothing, and keep what came by?"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from lessregret.data.streams import open_examples
from lessregret.learners.learner import Learner
from lessregret.ledger import Tally
from lessregret.training.recorder import Recorder, Unrecorded
from tests.support.command_line import CommandLine

BITS = 16


@pytest.fixture(scope="module")
def clicks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from lessregret.data.generate import ClickWorld, impressions, vw_lines

    path = tmp_path_factory.mktemp("clicks") / "clicks.vw"
    world = ClickWorld(seed=3, queries=200, ads=100, advertisers=10, words=200)
    path.write_bytes(b"".join(vw_lines(world, block) for block in impressions(world, 3000)))
    return path


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--certify", "--names", "--passes", "2"],
        ["--loss", "hinge", "--rule", "pa"],
        ["--bad-lines", "skip", "--names"],
    ],
    ids=" ".join,
)
def test_a_recorded_run_is_the_same_run(
    lessregret: CommandLine, clicks: Path, options: list[str]
) -> None:
    """The model's bytes, the predictions and the document, seconds and window aside."""
    lessregret.write("clicks.vw", clicks.read_bytes() + b"a bad line\n" * ("skip" in options))
    train = ["train", "clicks.vw", "--bits", str(BITS), "--json", "--quiet", *options]
    found = []
    for extra in ([], ["--report", "page.html"]):
        done = lessregret(*train, "--model", "m", "--predictions", "p", *extra)
        told = json.loads(done.stdout)["warnings"]
        assert (done.code, done.stderr) == (0, "".join(f"lessregret: warning: {t}\n" for t in told))
        document = json.loads(done.stdout)
        del document["seconds"]
        window = document.pop("window")
        certified, recorded = document["spec"]["certify"], bool(extra)
        assert (window is not None) == (certified and recorded)
        found.append((document, lessregret.read("m"), lessregret.read("p")))
    assert found[0] == found[1]
    assert found[0][0]["skipped"] == ("skip" in options)


def test_what_came_by_is_kept(clicks: Path) -> None:
    learner = Learner("logistic", bits=BITS)
    recorder = Recorder(Tally(), calibrates=True)
    stream = open_examples([clicks], learner)
    margins: list[np.ndarray] = []
    while recorder.learn(learner, stream, 700, margins.append):
        recorder.mark(learner.ledger())
    probabilities = 1 / (1 + np.exp(-np.concatenate(margins)))
    labels = np.array([each.label for each in open_examples([clicks], learner)])
    assert recorder.calibration is not None
    assert recorder.calibration.predicted == pytest.approx(probabilities.mean(), rel=1e-12)
    assert recorder.calibration.observed == (labels > 0).mean()
    ledger, last = learner.ledger(), recorder.curve.marks[-1]
    assert (last.rounds, last.mean_loss) == (3000, ledger.mean_loss)
    assert (last.bound, last.linear_regret) == (ledger.bound, ledger.linear_regret)
    assert last.statement == ledger.statement
    assert recorder.late.all_labels.mean == pytest.approx(labels.mean(), rel=1e-12)
    assert recorder.window is None
    recorder.finish(learner, ledger)
    assert recorder.window is not None
    assert recorder.window.run == ledger.statement
    assert len(recorder.curve.marks) == len({mark.rounds for mark in recorder.curve.marks})


def test_an_unrecorded_run_is_never_interrupted(clicks: Path) -> None:
    learner = Learner("logistic", bits=BITS)
    stream = open_examples([clicks], learner)
    assert Unrecorded(Tally()).next_mark(10**15) > 10**18
    assert Unrecorded(Tally()).learn(learner, stream, 5000) == 3000
