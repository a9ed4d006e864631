"""Scores of predictions: what is computed from sums over rounds, and the AUC.

    mean loss             Σ h ℓ / Σ h
    constant loss         that of the best constant prediction for the same labels, in hindsight
    normalised entropy    mean loss / constant loss, for log loss: He et al. (2014), section 2
    error                 the share of margins with the wrong sign; 0 is wrong
    AUC                   P(margin of a positive > that of a negative) + ½ P(equal)
    calibration           mean probability / share of label 1
    RMSE, MAE             √(Σ h (q − y)² / Σ h), Σ h |q − y| / Σ h
    R²                    1 − Σ h (q − y)² / Σ h (y − ȳ)²

h is the importance, q the prediction, y the label, ȳ the mean label. Sums of parts add up to those
of the whole, so scores of slices and of the whole agree.
"""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

from lessregret.learners.losses import loss_named
from lessregret.learners.outcomes import LabelSums
from lessregret.training.run_warnings import constant_loss


class MetricSums(NamedTuple):
    """Sums over the rounds that have a label and an importance h above 0.

    >>> MetricSums(examples=4, importance=4.0, label_mean=-0.5).labels.variance
    0.0
    """

    examples: int = 0
    importance: float = 0.0
    loss: float = 0.0
    """Σ h ℓ"""
    mistakes: float = 0.0
    """Σ h over the margins with the wrong sign"""
    predicted: float = 0.0
    """Σ h q"""
    label_mean: float = 0.0
    label_squares: float = 0.0
    """Σ h (y − mean)²"""
    squared_error: float = 0.0
    """Σ h (q − y)²; 0 for two classes"""
    absolute_error: float = 0.0

    @property
    def labels(self) -> LabelSums:
        """The sums of the labels alone."""
        return LabelSums(self.importance, self.label_mean, self.label_squares)

    def mean(self, total: float) -> float | None:
        """A sum over the rounds by importance; None without rounds."""
        return total / self.importance if self.importance > 0 else None


class Scores(NamedTuple):
    """The scores of some rounds, of predictions by a learner with this loss.

    A score is None if it is not defined: without rounds, or for labels that are all equal.

    >>> sums = MetricSums(4, 4.0, loss=2.0, mistakes=1.0, predicted=1.2, label_mean=-0.5)
    >>> scores = Scores("logistic", sums, area=(0.75, 1e-5))
    >>> scores.mean_loss, scores.error, scores.auc, round(scores.normalised_entropy, 4)
    (0.5, 0.25, 0.75, 0.8891)
    >>> scores.calibration
    1.2
    """

    loss: str
    sums: MetricSums
    area: tuple[float, float] | None = None
    """the AUC and the most by which it is wrong"""

    @property
    def mean_loss(self) -> float | None:
        """The mean loss."""
        return self.sums.mean(self.sums.loss)

    @property
    def constant_loss(self) -> float | None:
        """The mean loss of the best constant prediction for these labels, in hindsight."""
        return constant_loss(self.loss, self.sums.labels) if self.sums.importance > 0 else None

    @property
    def normalised_entropy(self) -> float | None:
        """The mean loss over that of the best constant probability, the base rate."""
        return _ratio(self.mean_loss, self.constant_loss)

    @property
    def error(self) -> float | None:
        """The share of margins with the wrong sign."""
        return self.sums.mean(self.sums.mistakes)

    @property
    def constant_error(self) -> float | None:
        """The error of predicting the more frequent label always."""
        share = self._share
        return None if share is None else min(share, 1 - share)

    @property
    def auc(self) -> float | None:
        """The area under the ROC curve."""
        return None if self.area is None else self.area[0]

    @property
    def auc_error(self) -> float | None:
        """The most by which the AUC is wrong, because close margins count as equal."""
        return None if self.area is None else self.area[1]

    @property
    def predicted(self) -> float | None:
        """The mean prediction."""
        return self.sums.mean(self.sums.predicted)

    @property
    def observed(self) -> float | None:
        """The share of label 1 for two classes, the mean label for numbers."""
        is_classes = loss_named(self.loss).is_classification
        return self._share if is_classes else self.sums.mean(self._label_total)

    @property
    def calibration(self) -> float | None:
        """The mean prediction over the mean label; 1 is right."""
        return _ratio(self.predicted, self.observed)

    @property
    def rmse(self) -> float | None:
        """The root of the mean squared error."""
        mean = self.sums.mean(self.sums.squared_error)
        return None if mean is None else sqrt(mean)

    @property
    def mae(self) -> float | None:
        """The mean absolute error."""
        return self.sums.mean(self.sums.absolute_error)

    @property
    def r2(self) -> float | None:
        """The part of the variance of the labels that the predictions explain."""
        share = _ratio(self.sums.squared_error, self.sums.label_squares)
        return None if share is None else 1 - share

    @property
    def names(self) -> tuple[str, ...]:
        """Which scores there are for this loss, in the order in which they are told."""
        link = loss_named(self.loss).link
        if link == "probability":
            return "normalised_entropy", "auc", "auc_error", "error", *CALIBRATION
        return ("auc", "auc_error", "error") if link == "sign" else ("r2", "rmse", "mae", *MEANS)

    @property
    def told(self) -> dict[str, float | None]:
        """All scores by their names in a document."""
        means = {"loss": self.mean_loss, "constant_loss": self.constant_loss}
        return means | {name: getattr(self, name) for name in self.names}

    def as_dict(self) -> dict[str, Any]:
        """All scores, for JSON."""
        return {"count": self.sums.examples, **self.told}

    @property
    def _share(self) -> float | None:
        return (1 + self.sums.label_mean) / 2 if self.sums.importance > 0 else None

    @property
    def _label_total(self) -> float:
        return self.sums.label_mean * self.sums.importance


MEANS = ("predicted", "observed")
CALIBRATION = ("calibration", *MEANS)


def _ratio(above: float | None, below: float | None) -> float | None:
    return None if above is None or not below else above / below
