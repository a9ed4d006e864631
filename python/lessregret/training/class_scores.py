"""Scores of predictions of many classes: what is computed from sums over rounds.

    mean loss             Σ h ℓ / Σ h
    constant loss         that of the best constant prediction for the same labels, in hindsight:
                          for log loss the entropy of the classes' shares
    normalised entropy    mean loss / constant loss, for log loss
    rank                  how many other classes have a margin that is at least the label's
    accuracy, error       the share of rounds of rank 0, and that of the others: a tie is a mistake
    top-k                 the share of rounds with a rank below k
    recall, precision     of a class: the rounds predicted right, over those with the label, and
                          over those with the prediction

h is the importance. Sums of parts add up to those of the whole.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from lessregret.learners.losses import loss_named
from lessregret.learners.outcomes import LabelSums
from lessregret.training.run_warnings import constant_loss

TOP = 10
"""top-k accuracies are known for k up to this"""
MOST = 100
"""classes with a row and a column of their own in the table of confusions"""
OTHERS = "(others)"
"""the further classes, which share a row and a column"""
TOLD = (3, 5)
"""the k of the top-k accuracies that are told, where there are more classes than k"""


class ClassSums(NamedTuple):
    """Sums over the rounds that have the label of a class and an importance h above 0."""

    examples: int = 0
    importance: float = 0.0
    loss: float = 0.0
    """Σ h ℓ"""
    ranks: tuple[float, ...] = (0.0,) * TOP
    """Σ h of each rank below 10"""
    observed: tuple[float, ...] = ()
    """Σ h of each label"""
    predicted: tuple[float, ...] = ()
    """Σ h of each prediction"""
    hits: tuple[float, ...] = ()
    """Σ h of each label, of the rounds that were predicted right"""
    confusions: tuple[tuple[int, int, float], ...] = ()
    """a label, a prediction and their Σ h; place 100 stands for all further classes"""

    @classmethod
    def of(cls, parts: tuple[Any, ...]) -> ClassSums:
        """The sums as the core gives them."""
        return cls(*parts[:3], *map(tuple, parts[3:]))

    def mean(self, total: float) -> float | None:
        """A sum over the rounds by importance; None without rounds."""
        return total / self.importance if self.importance > 0 else None


class ClassScore(NamedTuple):
    """How well one class was predicted."""

    name: str
    observed: float
    """the share of rounds with this label"""
    predicted: float
    """the share of rounds with this prediction"""
    recall: float | None
    precision: float | None


class Confusion(NamedTuple):
    """Rounds with one label and one prediction."""

    label: str
    predicted: str
    importance: float


class ClassScores(NamedTuple):
    """The scores of some rounds, of predictions by a learner with this loss.

    A score is None if it is not defined: without rounds, or for labels that are all equal.

    >>> pairs = ((0, 0, 2.0), (1, 0, 1.0), (1, 1, 1.0))
    >>> ranks = (3.0, 1.0, *[0.0] * 8)
    >>> totals = (2.0, 2.0, 0.0), (3.0, 1.0, 0.0), (2.0, 1.0, 0.0)
    >>> sums = ClassSums(4, 4.0, 2.0, ranks, *totals, pairs)
    >>> scores = ClassScores("logistic", sums, ("ham", "spam", "toast"))
    >>> scores.accuracy, scores.top(2), round(scores.constant_loss, 4)
    (0.75, 1.0, 0.6931)
    >>> scores.mistakes(5)
    (Confusion(label='spam', predicted='ham', importance=1.0),)
    >>> scores.of_class(1).recall, scores.of_class(2).recall
    (0.5, None)
    """

    loss: str
    sums: ClassSums
    classes: tuple[str, ...]
    """the names of the classes"""

    @property
    def mean_loss(self) -> float | None:
        """The mean loss."""
        return self.sums.mean(self.sums.loss)

    @property
    def constant_loss(self) -> float | None:
        """The mean loss of the best constant prediction for these labels, in hindsight."""
        if not self.sums.importance > 0:
            return None
        shares = [total / self.sums.importance for total in self.sums.observed]
        if loss_named(self.loss).link == "probability":
            from math import log

            return -sum(share * log(share) for share in shares if share > 0)
        # Each class against the rest: labels 1 and -1 with the mean 2 s - 1.
        labels = [LabelSums(1.0, 2 * s - 1, 4 * s * (1 - s)) for s in shares]
        losses = [constant_loss(self.loss, of_class) for of_class in labels]
        return sum(loss for loss in losses if loss is not None)

    @property
    def normalised_entropy(self) -> float | None:
        """The mean loss over that of the best constant probabilities, the classes' shares."""
        return _ratio(self.mean_loss, self.constant_loss)

    @property
    def accuracy(self) -> float | None:
        """The share of rounds in which the label's class was the likeliest."""
        return self.top(1)

    @property
    def error(self) -> float | None:
        """The share of the other rounds."""
        return None if self.accuracy is None else 1 - self.accuracy

    @property
    def constant_error(self) -> float | None:
        """The error of predicting the most frequent class always."""
        most = self.sums.mean(max(self.sums.observed, default=0.0))
        return None if most is None else 1 - most

    def top(self, k: int) -> float | None:
        """The share of rounds in which the label's class was among the k likeliest; k ≤ 10."""
        return self.sums.mean(sum(self.sums.ranks[:k]))

    def of_class(self, place: int) -> ClassScore:
        """The scores of one class."""
        sums = self.sums
        observed, predicted, hits = sums.observed[place], sums.predicted[place], sums.hits[place]
        shares = sums.mean(observed) or 0.0, sums.mean(predicted) or 0.0
        return ClassScore(
            self.classes[place], *shares, _ratio(hits, observed), _ratio(hits, predicted)
        )

    @property
    def of_classes(self) -> tuple[ClassScore, ...]:
        """The scores of every class."""
        return tuple(map(self.of_class, range(len(self.sums.observed))))

    @property
    def confusions(self) -> tuple[Confusion, ...]:
        """All pairs of a label and a prediction that occurred."""
        return tuple(Confusion(self._name(y), self._name(q), h) for y, q, h in self.sums.confusions)

    def mistakes(self, count: int) -> tuple[Confusion, ...]:
        """The pairs of a label and another prediction that cost most rounds."""
        wrong = [(y, q, h) for y, q, h in self.sums.confusions if y != q]
        wrong.sort(key=lambda it: (-it[2], it[:2]))
        return tuple(Confusion(self._name(y), self._name(q), h) for y, q, h in wrong[:count])

    @property
    def names(self) -> tuple[str, ...]:
        """Which scores there are for this loss, in the order in which they are told."""
        entropy = ("normalised_entropy",) if loss_named(self.loss).link == "probability" else ()
        return *entropy, "accuracy", *self._tops, "error", "constant_error"

    @property
    def _tops(self) -> tuple[str, ...]:
        return tuple(f"top_{k}" for k in TOLD if k < len(self.classes))

    @property
    def told(self) -> dict[str, float | None]:
        """All scores by their names in a document, but for those of single classes."""
        means = {"loss": self.mean_loss, "constant_loss": self.constant_loss}
        tops = {f"top_{k}": self.top(k) for k in TOLD}
        others = {name: getattr(self, name) for name in self.names if name not in tops}
        return means | {name: {**tops, **others}[name] for name in self.names}

    def as_dict(self) -> dict[str, Any]:
        """All scores, for JSON."""
        return {
            "count": self.sums.examples,
            **self.told,
            "classes": [score._asdict() for score in self.of_classes],
            "confusions": [pair._asdict() for pair in self.confusions],
        }

    def _name(self, place: int) -> str:
        return OTHERS if place >= MOST else self.classes[place]


def _ratio(above: float | None, below: float | None) -> float | None:
    return None if above is None or not below else above / below
