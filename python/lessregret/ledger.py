"""The ledger: what a run has lost, and what is certain about its regret.

Regret is the loss suffered less the loss of the best fixed point of the feasible set F:

    regret = Σ f_t(x_t) − min_{x∈F} Σ f_t(x)

With L2, f_t holds the round's penalty too, and Σ f_t(x_t) is ``total``, not the loss alone.
Three numbers stand above it, each above the one before:

    linear_regret   Σ g_t·x_t − min_{x∈F} (Σ g_t)·x: measured, one more number a coordinate
    bound           Σ_i [D_i²/(2η_T,i) + ½ Σ_t g²_t,i η_t,i] for the rates actually used
    theorem         the closed form of Theorem 2 or 3, proved for the rates of those theorems

At rate "auto" lanes play beside each other and their mixture is what is played. Each lane k has
these numbers for itself; with L_k its total and L that of the mixture, the mixture's regret is at
most

    L − L_k + linear_regret_k ≤ L − L_k + bound_k,   whichever k: the least of them counts

The ledger never sees features: a learner hands it outcomes, and a summary of its slots when asked.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple


class Outcome(NamedTuple):
    """What one round showed."""

    margin: float
    """played before the label was seen"""
    loss: float
    """not yet weighted by the importance"""
    mistake: bool
    importance: float
    penalty: float
    """(λ/2) Σ w², the regulariser's part of the round, not yet weighted either"""
    played: float
    """g·x, the gradient of loss and penalty times the point played"""
    energy: float
    """½ Σ_i g_i² η_i with the rates used"""
    features: int


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


class Lane(NamedTuple):
    """What is known at this moment of one lane.

    >>> lane = Lane(0.1, share=0.9, loss=7.0, played=2.0, energy=3.0, spread=5.0, floor=-4.0)
    >>> lane.bound, lane.linear_regret
    (8.0, 6.0)
    """

    rate: float
    share: float
    """its part in the mixture, from 0 to 1"""
    loss: float
    """Σ importance · loss, as it would have been had this lane been played"""
    played: float
    energy: float
    spread: float | None
    """None with importance-aware updates, for which no bound is proved"""
    floor: float | None
    penalty: float = 0.0
    """Σ importance · penalty; 0 without L2"""

    @property
    def total(self) -> float:
        """Loss and penalty of all rounds."""
        return self.loss + self.penalty

    @property
    def bound(self) -> float | None:
        """The bound on the lane's own regret, where one is proved."""
        return None if self.spread is None else self.energy + self.spread

    @property
    def linear_regret(self) -> float | None:
        """The certificate of the lane's own regret."""
        return None if self.floor is None else self.played - self.floor


class SlotSummary(NamedTuple):
    """What the slots say at this moment about regret, summed over all coordinates."""

    spread: float | None
    """Σ_i D_i²/(2η_T,i), the first half of the bound; None where there is none"""
    floor: float | None
    """min_{x∈F} (Σ g)·x; None unless certified"""
    theorem: float | None
    touched: int
    """slots that are not as they began"""
    mixing_cost: float | None = None
    """what mixing lanes has cost at most, against the best of them"""
    lanes: tuple[Lane, ...] = ()
    """the lanes, at rate "auto\""""


@dataclass(frozen=True)
class Ledger:
    """A run's account at one moment.

    >>> ledger = Ledger(Tally(rounds=4, importance=4.0, loss=2.0, mistakes=1.0, energy=3.0),
    ...                 SlotSummary(spread=5.0, floor=None, theorem=None, touched=2), True)
    >>> ledger.mean_loss, ledger.mistake_rate, ledger.bound, ledger.linear_regret
    (0.5, 0.25, 8.0, None)
    """

    tally: Tally
    summary: SlotSummary
    counts_mistakes: bool
    skipped: int = 0
    """lines passed over because they were bad"""

    @property
    def rounds(self) -> int:
        """Rounds played."""
        return self.tally.rounds

    @property
    def mean_loss(self) -> float | None:
        """Σ importance · loss / Σ importance; None before the first round."""
        return self._mean(self.tally.loss)

    @property
    def mean_penalty(self) -> float | None:
        """Σ importance · (λ/2) Σ w² / Σ importance: 0 without L2; None before the first round."""
        return self._mean(self.tally.penalty)

    @property
    def total(self) -> float:
        """Loss and penalty of all rounds: Σ f_t(x_t), the sum whose regret is bounded."""
        return self.tally.loss + self.tally.penalty

    @property
    def mistake_rate(self) -> float | None:
        """The share of rounds with y · margin ≤ 0; None for regression."""
        return self._mean(self.tally.mistakes) if self.counts_mistakes else None

    @property
    def bound(self) -> float | None:
        """The paper's bound on the regret, for the rates actually used.

        None for rules without one, and with importance-aware updates: it is proved of gradient
        steps.
        """
        if self.lanes:
            return self._least_of_lanes([lane.bound for lane in self.lanes])
        return None if self.summary.spread is None else self.tally.energy + self.summary.spread

    @property
    def theorem(self) -> float | None:
        """D√(2Σ|g|²) (Theorem 2) or Σ_i D_i√(2Σg_i²) (Theorem 3).

        A guarantee when the rule runs at ``rate="theory"``; for Global moreover only if no
        coordinate appears after the first round (erratum E15).
        """
        return self.summary.theorem

    @property
    def linear_regret(self) -> float | None:
        """The certificate: never below the regret, never above the bound; None unless certified."""
        if self.lanes:
            return self._least_of_lanes([lane.linear_regret for lane in self.lanes])
        return None if self.summary.floor is None else self.tally.played - self.summary.floor

    @property
    def lanes(self) -> tuple[Lane, ...]:
        """The lanes at rate "auto", by rate; none otherwise."""
        return self.summary.lanes

    @property
    def best_lane(self) -> Lane | None:
        """The lane with the largest share; None without lanes."""
        return max(self.lanes, key=lambda lane: lane.share, default=None)

    @property
    def mixing_cost(self) -> float | None:
        """What mixing has cost at most, a proven number: total ≤ the best lane's total + this.

        For logistic loss with importances up to 1 it is at most ln 8; for squared loss it is
        about the lanes' predictions clipped to the labels met. None without lanes.
        """
        return self.summary.mixing_cost

    def as_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {
            **asdict(self.tally),
            "mean_loss": self.mean_loss,
            "mean_penalty": self.mean_penalty,
            "total": self.total,
            "mistake_rate": self.mistake_rate,
            "bound": self.bound,
            "theorem": self.theorem,
            "linear_regret": self.linear_regret,
            "mixing_cost": self.mixing_cost,
            "lanes": [lane._asdict() for lane in self.lanes],
            "touched": self.summary.touched,
            "skipped": self.skipped,
        }

    def _least_of_lanes(self, limits: list[float | None]) -> float | None:
        """What the lanes' own limits on their regret make of the mixture's, if they are known."""
        known = zip(self.lanes, limits, strict=True)
        return min(
            (self.total - lane.total + limit for lane, limit in known if limit is not None),
            default=None,
        )

    def _mean(self, total: float) -> float | None:
        return total / self.tally.importance if self.tally.importance > 0 else None
