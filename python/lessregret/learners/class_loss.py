"""Losses of many classes: a margin for each class, and the label is one of them.

    Multinomial   log Σ_c exp(p_c) − p_y       slope in p_c: q_c − 1[c = y],  q = softmax(p)
    One vs rest   Σ_c ℓ(p_c, y_c)              y_c = 1 for the label's class, −1 for all others

A loss that predicts a probability becomes the multinomial one, which for two classes is the
logistic loss of p_1 − p_0. Any other loss of two classes is summed, one class against the rest.
Both are convex in all margins, so Lemma 2 of the paper holds for the coordinates (feature, class).
Source: Böhning (1992), "Multinomial logistic regression algorithm".

The twin of ``crates/core/src/loss/classes.rs``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, inf, log

from lessregret.learners.losses import Loss
from lessregret.learners.mixture import Mixture


class ClassLoss:
    """The loss of the margins of all classes that count; the label is a place among them.

    >>> from lessregret.learners.losses import Logistic
    >>> loss = ClassLoss(Logistic())
    >>> round(loss.value([0.0, 0.0, 0.0], 1), 4), loss.slopes([0.0, 0.0], 1)
    (1.0986, [0.5, -0.5])
    """

    def __init__(self, loss: Loss) -> None:
        self.loss = loss
        self.name, self.mixing = loss.name, loss.mixing
        self.is_multinomial = loss.link == "probability"

    def value(self, margins: Sequence[float], label: int) -> float:
        """ℓ(p, y)."""
        if self.is_multinomial:
            return log_sum(margins) - margins[label]
        signs = [1.0 if c == label else -1.0 for c in range(len(margins))]
        return sum(self.loss.value(p, y) for p, y in zip(margins, signs, strict=True))

    def slopes(self, margins: Sequence[float], label: int) -> list[float]:
        """The partial derivatives ∂ℓ/∂p_c, a subgradient where there is a kink."""
        if self.is_multinomial:
            return [q - (c == label) for c, q in enumerate(self.probabilities(margins))]
        signs = [1.0 if c == label else -1.0 for c in range(len(margins))]
        return [self.loss.slope(p, y) for p, y in zip(margins, signs, strict=True)]

    def probabilities(self, margins: Sequence[float]) -> list[float]:
        """softmax(p)."""
        total = log_sum(margins)
        return [exp(p - total) for p in margins]

    @staticmethod
    def is_mistake(margins: Sequence[float], label: int) -> bool:
        """Whether another class is as likely; a tie decides nothing and is a mistake."""
        return any(p >= margins[label] for c, p in enumerate(margins) if c != label)


class ClassMixture(Mixture):
    """The mixture of experts that play a margin for each class.

    The multinomial loss mixes probabilities: q_c = Σ_k π_k q_k,c, with the margins log q_c. Its mix
    loss is the loss of q, so it costs at most ln K as for two classes. Other losses mix margins.
    """

    def class_margins(self, experts: Sequence[Sequence[float]]) -> list[float]:
        """What is played, from the margins of every expert."""
        classes = range(len(experts[0]))
        if self.loss.mixing != "log-odds":
            shares = self.shares()
            pairs = [list(zip(shares, (e[c] for e in experts), strict=True)) for c in classes]
            return [sum(share * margin for share, margin in pair) for pair in pairs]
        logs = [[p - log_sum(expert) for p in expert] for expert in experts]
        return [self._log_mean([expert[c] for expert in logs]) for c in classes]

    margin = class_margins  # type: ignore[assignment]

    def _clip(self, margin: float) -> float:
        return margin

    def _cost_of_clipping(self, margins: Sequence[float], label: float) -> float:
        return 0.0


def log_sum(logs: Sequence[float]) -> float:
    """ln Σ exp(logs)."""
    most = max(logs, default=-inf)
    return most + log(sum(exp(each - most) for each in logs))
