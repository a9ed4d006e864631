"""Does the section say what the certificate says, in words where a number would mislead?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lessregret.ledger import Certificate, Ledger, Norms, SlotSummary, Statement, Tally
from lessregret.report.certified import Certified, certified_section, certified_tile
from lessregret.training.curve import CurvePoint
from lessregret.training.window import Window
from tests.support.command_line import CommandLine
from tests.support.html_outline import Outline, outline_of

SPEC = {
    "loss": "logistic", "l2": 0.0, "rule": {"name": "per-coordinate", "rate": "auto"},
    "fixed_share": 0.0001,
}  # fmt: skip
SUMS = Norms.of([0.3, -0.4])


def ledger(
    sums: Norms | None = SUMS, loss: float = 40.0, standardised: float | None = None
) -> Ledger:
    """100 rounds with learned weights of size 2 and an offset a little above the loss."""
    weights = Norms.of([1.2, 1.6])
    game = loss if standardised is None else standardised
    certificate = None if sums is None else Certificate(1.05 * game, sums, weights, 0.0, 0.0)
    tally = Tally(rounds=100, importance=100.0, loss=loss, standardised_loss=standardised)
    summary = SlotSummary(spread=None, floor=None, theorem=None, touched=2)
    return Ledger(tally, summary, True, 0, certificate)


def marks(of: Ledger) -> list[CurvePoint]:
    said = of.statement
    return [
        CurvePoint(rounds, float(rounds), 0.4 * rounds, 0.4, 0.4, None, None, said)
        for rounds in (50, 64, 90, 100)
    ]


def html(found: Certified) -> str:
    text = certified_section(found).html()
    Outline(text)
    return text


def test_the_sentence_the_pictures_and_the_tile_of_a_run_that_certifies_much() -> None:
    run = ledger()
    text = html(Certified(run, marks(run), SPEC, constant=0.5))
    assert run.statement is not None
    assert run.statement.certified == pytest.approx(0.41 - 0.01)
    assert "lose less than 0.400000" in text
    assert text.count('role="img"') == 2
    [tile] = certified_tile(ledger(Norms.of([3.0, 4.0])))
    assert tile == ("left to gain, at most", "20.0 %", "by fixed weights with ‖w‖ ≤ 2.00")


def test_words_alone_where_nothing_is_certified_at_a_tenth_of_the_size() -> None:
    run = ledger(Norms.of([300.0, 400.0]))
    text = html(Certified(run, marks(run), SPEC))
    assert "open: fixed weights with" in text
    assert 'role="img"' not in text
    assert "<table" not in text
    assert certified_tile(run)[0][:2] == ("left to gain", "open")


def test_where_smaller_weights_are_certified_there_is_a_picture_over_sizes_only() -> None:
    run = ledger(Norms.of([30.0, 40.0]))
    text = html(Certified(run, marks(run), SPEC))
    assert "open: fixed weights with" in text
    assert text.count('role="img"') == 1
    assert ">0.1 × learned</td>" in text


def test_a_constant_that_loses_far_more_is_told_and_not_drawn() -> None:
    run = ledger()
    told = "The best constant prediction lost 3.000000."
    assert told in html(Certified(run, marks(run), SPEC, constant=3.0))
    assert "constant prediction</b>" not in html(Certified(run, marks(run), SPEC, constant=3.0))
    drawn = html(Certified(run, marks(run), SPEC, constant=0.5))
    assert "<b>best constant prediction</b> 0.5" in drawn
    assert "constant prediction lost" not in drawn


def test_without_a_certificate_and_without_a_loss() -> None:
    assert "<code>--certify</code>" in html(Certified(ledger(None), [], SPEC))
    assert certified_tile(ledger(None)) == []
    for run, told in (
        (ledger(loss=0.0), "The run lost nothing, so nothing is left."),
        (ledger(standardised=0.0), "The loss in variances of the labels is 0, so nothing is left."),
    ):
        assert told in html(Certified(run, [], SPEC))
        assert certified_tile(run) == []


def window(certified: float, open_loss: float) -> Window:
    run = Statement("ball", 2.0, 0.0, lost=0.4, certified=0.38)
    return Window(12, run._replace(lost=0.5, certified=certified), run, open_loss, 2.0)


@pytest.mark.parametrize(
    ("certified", "open_loss", "told", "warned"),
    [
        (
            0.4,
            1.2,
            "lose less than 0.400000 on these alone: at most 20.0 % is left to gain.",
            False,
        ),
        (0.1, 1.9, "too few to certify half of it for weights of this size.", False),
        (0.3, 2.4, "lose less than 0.300000 on these alone: at most 40.0 % is left to gain.", True),
    ],
)
def test_the_last_rounds_have_a_sentence(
    certified: float, open_loss: float, told: str, warned: bool
) -> None:
    run = ledger()
    text = html(Certified(run, marks(run), SPEC, window=window(certified, open_loss)))
    assert "The last 12 examples lost 0.500000 on average" in text
    assert told in text
    assert ("a sign that the data changed; try --fixed-share 0.001, or train" in text) == warned


def test_the_page_of_a_run_has_what_its_document_has(lessregret: CommandLine) -> None:
    rows = "".join(f"{1 if k % 3 else -1} | a:{1 + k % 2} b:{k % 5}\n" for k in range(3000))
    data = lessregret.write("data.vw", rows)
    done = lessregret("train", data, "--bits", "8", "--report", "page.html", "--json", "--quiet")
    document = json.loads(done.stdout)
    page = Path("page.html").read_text(encoding="utf-8")
    last = document["window"]
    assert last["rounds"] == 345
    assert f"The last 345 examples lost {last['lost']:.6f} on average" in page
    assert f"{last['certified']:.6f} on these alone" in page
    assert page.index("Loss over examples") < page.index("What is certified")
    losses = [row for row in outline_of("page.html").rows if row[0] == "3,000"]
    assert [len(row) for row in losses] == [3, 5]
    assert losses[0][1] == losses[1][1] == f"{document['mean_loss']:.6f}"
