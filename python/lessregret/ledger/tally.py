"""The sums over the rounds of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Outcome(NamedTuple):
    """The numbers of one round."""

    margin: float
    """computed before the label was used"""
    loss: float
    """not multiplied by the importance"""
    mistake: bool
    importance: float
    penalty: float
    """(λ/2) Σ w², the L2 penalty of the round, not multiplied by the importance"""
    played: float
    """g·x, the gradient of loss and penalty times the weights before the update"""
    energy: float
    """½ Σ_i g_i² η_i, with the rates η_i of this round"""
    features: int
    standardised_loss: float | None = None
    """the loss in the game on standardised labels; None if labels are not standardised"""


@dataclass
class Tally:
    """Sums over the rounds so far, in float64."""

    rounds: int = 0
    features: int = 0
    importance: float = 0.0
    loss: float = 0.0
    mistakes: float = 0.0
    played: float = 0.0
    energy: float = 0.0
    penalty: float = 0.0
    standardised_loss: float | None = None
    """Σ importance · loss in the game on standardised labels; None if it is not played"""

    def record(self, outcome: Outcome) -> None:
        """Add one round."""
        self.rounds += 1
        self.features += outcome.features
        self.importance += outcome.importance
        self.loss += outcome.importance * outcome.loss
        self.mistakes += outcome.importance * outcome.mistake
        self.played += outcome.played
        self.energy += outcome.energy
        self.penalty += outcome.importance * outcome.penalty
        if outcome.standardised_loss is not None:
            before = self.standardised_loss or 0.0
            self.standardised_loss = before + outcome.importance * outcome.standardised_loss

    @property
    def game_loss(self) -> float:
        """The loss of the game that the regret is about."""
        return self.loss if self.standardised_loss is None else self.standardised_loss
