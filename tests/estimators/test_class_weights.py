"""Weights of classes, and logs that kept some of their negatives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import vstack
from scipy.special import expit
from sklearn.utils.class_weight import compute_class_weight

from lessregret import OnlineClassifier, train
from lessregret.data.generate import ClickWorld, log_text
from lessregret.data.generate import rows as log_rows
from lessregret.errors import SpecError

WORLD = ClickWorld(seed=5, queries=200, ads=160, advertisers=20, words=100)
KEPT = 0.1


def rows(classes: Any = (0, 1), count: int = 400) -> tuple[Any, Any]:
    draw = np.random.default_rng(3)
    X = draw.normal(size=(count, 3))
    edges = np.linspace(0.5, 2, len(classes) - 1)
    return X, np.array(classes)[np.digitize(X[:, 0] + draw.normal(size=count), edges)]


def bits(clf: OnlineClassifier) -> bytes:
    content: bytes = clf.learner_.to_bytes()  # type: ignore[union-attr]
    return content


@pytest.mark.parametrize("classes", [(0, 1), ("no", "yes"), ("a", "b", "c")])
def test_weights_are_importances_to_the_bit(classes: tuple[Any, ...]) -> None:
    X, y = rows(classes)
    weights = dict(zip(classes, (0.25, 3.0, 1.5), strict=False))
    by_hand = np.array([weights[each] for each in y.tolist()])
    weighted = OnlineClassifier(class_weight=weights).fit(X, y)
    assert bits(weighted) == bits(OnlineClassifier().fit(X, y, by_hand))
    own = np.random.default_rng(0).uniform(size=len(y))
    weighted = OnlineClassifier(class_weight=weights).fit(X, y, own)
    assert bits(weighted) == bits(OnlineClassifier().fit(X, y, own * by_hand))


@pytest.mark.parametrize("classes", [(0, 1), ("a", "b", "c")])
def test_balanced_weights_are_those_of_scikit_learn(classes: tuple[Any, ...]) -> None:
    X, y = rows(classes)
    known = compute_class_weight("balanced", classes=np.array(classes), y=y)
    clf = OnlineClassifier(class_weight="balanced").fit(X, y)
    given = OnlineClassifier(class_weight=dict(zip(classes, known, strict=True))).fit(X, y)
    assert bits(clf) == bits(given)
    sums = [h.sum() for h in (known[np.searchsorted(classes, y)][y == c] for c in classes)]
    assert np.allclose(sums, len(y) / len(classes))


def test_balance_needs_all_labels() -> None:
    X, y = rows()
    clf = OnlineClassifier(class_weight="balanced")
    with pytest.raises(SpecError, match="only for fit; count the classes of a sample"):
        clf.partial_fit(X, y, classes=[0, 1])
    with pytest.raises(SpecError, match="only for fit"):
        clf.learn_one({"a": 1.0}, 1)


def test_batches_and_single_examples_are_weighted_alike() -> None:
    settings: dict[str, Any] = {"class_weight": {0: 0.5, 1: 2.0}, "negatives_kept": 0.5}
    examples = [({"a": float(k % 7), "w": "xyz"[k % 3]}, int(k % 4 == 0)) for k in range(60)]
    batch, one = (OnlineClassifier(**settings, bits=8) for _ in range(2))
    batch.partial_fit([x for x, _ in examples], [y for _, y in examples], classes=[0, 1])
    for x, y in examples:
        one.learn_one(x, y)
    assert bits(batch) == bits(one)
    assert one.ledger_.tally.importance == 45 * 0.5 / 0.5 + 15 * 2.0


def test_a_weight_for_a_class_that_is_none_is_an_error() -> None:
    X, y = rows(("no", "yes"))
    with pytest.raises(SpecError, match="class_weight has 'ja', which is not a class"):
        OnlineClassifier(class_weight={"ja": 2.0}).fit(X, y)
    with pytest.raises(SpecError, match="negatives_kept is for two classes"):
        OnlineClassifier(negatives_kept=0.5).fit(*rows(("a", "b", "c")))


def subsampled(y: Any, seed: int = 8) -> Any:
    """Which rows a log kept: all positives and some of the negatives."""
    return (y > 0) | (np.random.default_rng(seed).uniform(size=len(y)) < KEPT)


def mean_log_loss(clf: OnlineClassifier, X: Any, y: Any) -> float:
    return float(np.mean(-np.log(expit(y * clf.decision_function(X)))))


def test_probabilities_of_a_subsampled_log_are_those_of_the_whole() -> None:
    """The predictions of one draw are off by about a tenth, because each negative counts tenfold
    in the last steps; the mean of four draws by half of that."""
    blocks = list(log_rows(WORLD, 40_000))
    X, y = vstack([X for X, _ in blocks]).tocsr(), np.concatenate([y for _, y in blocks])
    (seen, labels), (X, y) = (X[:20_000], y[:20_000]), (X[20_000:], y[20_000:])
    clicked = float(np.mean(y > 0))
    whole = OnlineClassifier(scale="none").fit(seen, labels)
    of_whole = mean_log_loss(whole, X, y)
    constant = -clicked * np.log(clicked) - (1 - clicked) * np.log(1 - clicked)
    ratios = []
    for draw in range(4):
        kept = subsampled(labels, draw)
        part, naive = (
            OnlineClassifier(scale="none", negatives_kept=share).fit(seen[kept], labels[kept])
            for share in (KEPT, 1.0)
        )
        # A seventh of the examples saves three quarters of what all save of the constant's loss.
        saved = (constant - mean_log_loss(part, X, y)) / (constant - of_whole)
        assert saved > 0.75
        assert mean_log_loss(naive, X, y) > constant
        ratios.append(float(part.predict_proba(X)[:, 1].mean()) / clicked)
        assert float(naive.predict_proba(X)[:, 1].mean()) / clicked > 4
    assert abs(float(whole.predict_proba(X)[:, 1].mean()) / clicked - 1) < 0.05
    assert abs(np.mean(ratios) - 1) < 0.1


def test_a_log_with_the_importances_by_hand_gives_the_same_bits(tmp_path: Path) -> None:
    lines = b"".join(log_text(WORLD, 3000)).splitlines(keepends=True)
    kept = [line for line, keep in zip(lines, subsampled(_labels(lines)), strict=True) if keep]
    by_hand = [
        line if line.startswith(b"1 ") else line.replace(b"-1 ", b"-1 10 ", 1) for line in kept
    ]
    (tmp_path / "kept.vw").write_bytes(b"".join(kept))
    (tmp_path / "hand.vw").write_bytes(b"".join(by_hand))
    one = train(tmp_path / "kept.vw", bits=12, negatives_kept=KEPT)
    other = train(tmp_path / "hand.vw", bits=12)
    assert one.learner.to_bytes() == other.learner.to_bytes()
    assert one.ledger.tally == other.ledger.tally
    assert one.metrics == other.metrics


def _labels(lines: list[bytes]) -> Any:
    return np.array([1.0 if line.startswith(b"1 ") else -1.0 for line in lines])


@pytest.mark.parametrize("kept", [0.0, -1.0, 1.5, float("nan")])
def test_a_fraction_is_above_0_and_at_most_1(kept: float, tmp_path: Path) -> None:
    (tmp_path / "a.vw").write_text("1 |a b\n")
    with pytest.raises(SpecError, match="negatives_kept must be a number above 0 and at most 1"):
        train(tmp_path / "a.vw", negatives_kept=kept)


def test_numbers_have_no_negatives(tmp_path: Path) -> None:
    (tmp_path / "a.vw").write_text("1.5 |a b\n")
    with pytest.raises(SpecError, match="negatives_kept is for the losses of two classes"):
        train(tmp_path / "a.vw", loss="squared", negatives_kept=0.5)
