"""Does comparing do what its page says: parse once, learn many, the same bits as alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lessregret.cli import run
from lessregret.data.examples import Examples, shuffled
from lessregret.data.generate import ClickWorld, impressions, vw_lines
from lessregret.data.streams import ExampleStream, open_examples
from lessregret.learners.learner import Learner, learn_many
from lessregret.learners.rules import RULES, Rule, parse_rule
from lessregret.regret.comparison import compare_shuffled, compare_stream

BITS = 16
EIGHT = "per-coordinate,global,constant,inverse-sqrt,ftrl:l1=0.1,pa,cw,arow:form=precision"


@pytest.fixture(scope="module")
def clicks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("clicks") / "clicks.vw"
    world = ClickWorld(seed=3, queries=200, ads=100, advertisers=10, words=200)
    path.write_bytes(b"".join(vw_lines(world, block) for block in impressions(world, 3000)))
    return path


def make(rule: Rule) -> Learner:
    return Learner("logistic", rule, bits=BITS)


def stream_of(clicks: Path) -> ExampleStream:
    return open_examples([clicks], make(RULES["pa"]()))


def test_eight_together_are_eight_alone(clicks: Path) -> None:
    rules = {text: parse_rule(text) for text in EIGHT.split(",")}
    together = compare_stream(rules, make, stream_of(clicks), block=500)
    for row, (text, rule) in zip(together, rules.items(), strict=True):
        [alone] = compare_stream({text: rule}, make, stream_of(clicks), block=10_000)
        assert row == alone
        assert row.curve is not None
        assert [mark.rounds for mark in row.curve.marks][-3:] == [2048, 2896, 3000]
        assert row.curve.marks[-1].mean_loss == row.mean_loss


def test_the_command_gives_the_numbers_of_train(
    clicks: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compare", str(clicks), "--bits", "16", "--rules", "cw,pa", "--json"]) == 0
    compared = json.loads(capsys.readouterr().out)
    for row in compared["rows"]:
        train = ["train", str(clicks), "--bits", "16", "--rule", row["rule"], "--json", "--quiet"]
        assert run(train) == 0
        trained = json.loads(capsys.readouterr().out)
        assert row["mean_loss"] == trained["mean_loss"]
        assert row["mistake_rate"] == trained["mistake_rate"]
        assert row["sd_loss"] is None


def test_l2_is_for_the_rules_that_have_a_box(
    clicks: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def losses(*options: str) -> list[float]:
        compare = ["compare", str(clicks), "--bits", "16", "--rules", "ftrl,pa", "--json"]
        assert run([*compare, *options]) == 0
        return [row["mean_loss"] for row in json.loads(capsys.readouterr().out)["rows"]]

    plain, penalised = losses(), losses("--l2", "0.1")
    assert plain[0] != penalised[0]
    assert plain[1] == penalised[1]
    train = [
        "train",
        str(clicks),
        "--bits",
        "16",
        "--rule",
        "ftrl",
        "--l2",
        "0.1",
        "--json",
        "--quiet",
    ]
    assert run(train) == 0
    assert json.loads(capsys.readouterr().out)["mean_loss"] == penalised[0]
    assert run(["compare", str(clicks), "--rules", "pa", "--l2", "nan"]) == 2
    assert "l2 must be a number from 0 up" in capsys.readouterr().err


def test_shuffles_depend_on_seed_and_number_only(clicks: Path) -> None:
    rules = {"pa": parse_rule("pa"), "per-coordinate": parse_rule("per-coordinate")}
    examples = Examples.collect(stream_of(clicks))
    assert len(examples) == 3000
    three = compare_shuffled(rules, make, examples, shuffles=3, seed=5)
    two = compare_shuffled({"pa": rules["pa"]}, make, examples, shuffles=2, seed=5)
    assert three[0].losses[:2] == two[0].losses
    assert len(set(three[0].losses)) == 3
    other = compare_shuffled({"pa": rules["pa"]}, make, examples, shuffles=2, seed=6)
    assert set(other[0].losses).isdisjoint(three[0].losses)


def test_a_shuffle_is_a_permutation() -> None:
    order = shuffled(1000, seed=1, number=2)
    assert sorted(order.tolist()) == list(range(1000))
    assert order.tolist() == shuffled(1000, seed=1, number=2).tolist()


def test_standard_deviation_is_over_the_shuffles(
    clicks: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    picture = tmp_path / "scores.png"
    arguments = ["compare", str(clicks), "--bits", "16", "--rules", "pa,arow", "--shuffles", "3"]
    assert run([*arguments, "--json", "--picture", str(picture)]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["rule"] for row in rows] == ["pa", "arow"]
    assert all(0 < row["sd_loss"] < row["mean_loss"] for row in rows)
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ("nonsense", "unknown rule 'nonsense'"),
        ("pa:rate=1", "rule 'pa' has no rate; it has epsilon"),
        ("pa-i:aggressiveness", "expected parameter=value after ':', found 'aggressiveness'"),
        ("ftrl:l1=-1", "Ftrl: l1 must be a number from 0 up, found -1.0"),
        ("arow:form=round", "Arow: form must be 'covariance' or 'precision', found 'round'"),
    ],
)
def test_rules_that_cannot_be_are_refused(
    clicks: Path, capsys: pytest.CaptureFixture[str], rules: str, message: str
) -> None:
    assert run(["compare", str(clicks), "--rules", rules]) == 2
    assert message in capsys.readouterr().err


def test_classifiers_are_refused_for_regression(
    clicks: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compare", str(clicks), "--rules", "cw", "--loss", "squared"]) == 2
    assert "rule 'cw' learns from labels -1 and 1" in capsys.readouterr().err


def test_examples_refuse_learners_of_another_kind(clicks: Path) -> None:
    from lessregret.errors import SpecError

    examples = Examples.collect(stream_of(clicks))
    others = {
        "slots: the learner has bits=12, the examples were read for bits=16": {"bits": 12},
        "intercept: the learner has intercept=False, the examples were read for intercept=True": {
            "bits": BITS,
            "intercept": False,
        },
    }
    for told, other in others.items():
        with pytest.raises(SpecError, match=f"the feature spaces differ in {told}"):
            learn_many([Learner("logistic", **other)], examples)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compare", "x", "--rules", "pa,pa"], "a rule is named twice"),
        (["compare", "x", "--picture", "x.foo"], "a picture ends in .png, .svg, .pdf"),
        (["compare", "x", "--picture", "no/such/x.png"], "there is no folder no/such"),
        (["train", "x", "--rule", "ftrl:name=pa"], "in rule 'ftrl:name=pa', name is given twice"),
        (["train", "x", "--rule", "ftrl:l1=1:l1=2"], "l1 is given twice"),
        (["train", "x", "--rule", "ftrl:rate=1", "--rate", "2"], "by --rule and by --rate"),
        (["train", "x", "--slim"], "say where with --model"),
    ],
)
def test_requests_that_contradict_themselves(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    assert message in capsys.readouterr().err


def test_a_rule_without_a_feasible_set_takes_no_box() -> None:
    from lessregret.errors import SpecError
    from lessregret.learners.readable import ReadableLearner

    for intercept in (False, True):
        with pytest.raises(SpecError, match="cannot be given a box"):
            Learner("hinge", parse_rule("pa"), columns=1, intercept=intercept, box=([-1], [1]))
    with pytest.raises(SpecError, match="cannot be given a box"):
        ReadableLearner("hinge", parse_rule("pa"), boxes={0: (-1.0, 1.0)})


def test_inspect_says_that_a_model_is_slim(
    clicks: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = str(tmp_path / "slim.safetensors")
    train = [
        "train",
        str(clicks),
        "--bits",
        "16",
        "--certify",
        "--slim",
        "--model",
        model,
        "--quiet",
    ]
    assert run(train) == 0
    assert run(["inspect", model]) == 0
    page = capsys.readouterr().out
    assert "weights of 65,537 slots; slim, only predicts" in page
    assert "certified    no" in page
