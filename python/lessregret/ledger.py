"""The ledger: the losses of a run, and upper bounds on its regret.

Regret is the loss of the run minus the loss of the best fixed point of the feasible set F:

    regret = Σ f_t(x_t) − min_{x∈F} Σ f_t(x)

With L2, f_t includes the penalty of the round, and Σ f_t(x_t) is ``total``, not the loss alone.
There are three upper bounds on the regret, each at least as large as the one before:

    linear_regret   Σ g_t·x_t − min_{x∈F} (Σ g_t)·x: measured; needs one more number per coordinate
    bound           Σ_i [D_i²/(2η_T,i) + ½ Σ_t g²_t,i η_t,i] for the rates that were used
    theorem         the closed form of Theorem 2 or 3, proved for the rates of those theorems

At rate "auto" several lanes are trained at the same time, and the prediction is a mixture of them
and of the stack, which learns how to add up their margins. The lanes and the stack are the experts
of the mixture. Each lane k has its own linear_regret_k and bound_k. Let L_k be the total of lane k
and L the total of the mixture. For every k the regret of the mixture is at most

    L − L_k + linear_regret_k ≤ L − L_k + bound_k

The ledger reports the smallest of these numbers. It is computed from the tally of a learner and a
summary of its slots, never from features.

If labels are standardised (scale "standard", squared loss), regret and bounds are those of the game
on standardised labels, Σ (m_t − ŷ_t)² with m the margin, and total is the loss of that game; the
loss is in the units of the labels.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

LABELS_AS_GIVEN = "labels as given"
STANDARDISED_LABELS = "standardised labels"
VARIANCES = "in variances of the labels"
"""The unit of losses and regret in the game on standardised labels."""


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


class Lane(NamedTuple):
    """The numbers of one lane: one of the models that are trained at the same time and mixed.

    >>> lane = Lane("rate 0.1", 0.1, 0.9, 7.0, played=2.0, energy=3.0, spread=5.0, floor=-4.0)
    >>> lane.bound, lane.linear_regret
    (8.0, 6.0)
    """

    name: str
    """what texts call the lane: "rate 0.1", for example, or "coin\""""
    rate: float | None
    """None for the lane that plays the rule ``coin``, which has no rate"""
    share: float
    """the weight of the lane in the mixture, from 0 to 1"""
    loss: float
    """Σ importance · loss of the predictions of this lane alone"""
    played: float
    energy: float
    spread: float | None
    """Σ_i D_i²/(2η_T,i); None with importance-aware updates, for which no bound is proved"""
    floor: float | None
    penalty: float = 0.0
    """Σ importance · penalty; 0 without L2"""
    standardised_loss: float | None = None
    """Σ importance · loss in the game on standardised labels; None if it is not played"""

    @property
    def total(self) -> float:
        """The sum of loss and penalty over all rounds, in the game that the regret is about."""
        loss = self.loss if self.standardised_loss is None else self.standardised_loss
        return loss + self.penalty

    @property
    def bound(self) -> float | None:
        """The bound on the regret of this lane; None if no bound is proved."""
        return None if self.spread is None else self.energy + self.spread

    @property
    def linear_regret(self) -> float | None:
        """The linearised regret of this lane; None unless certified."""
        return None if self.floor is None else self.played - self.floor


class StackOfLanes(NamedTuple):
    """The numbers of the stack, the expert that learns how to add up the margins of the lanes.

    It has no weights of its own, so no bound and no linearised regret.

    >>> StackOfLanes(share=0.5, loss=7.0, penalty=1.0).total
    8.0
    """

    share: float
    """the weight of the stack in the mixture, from 0 to 1"""
    loss: float
    """Σ importance · loss of the predictions of the stack alone"""
    penalty: float = 0.0
    """Σ importance · penalty; 0 without L2"""

    @property
    def total(self) -> float:
        """The sum of loss and penalty over all rounds."""
        return self.loss + self.penalty


class SlotSummary(NamedTuple):
    """The parts of the bound and of the linearised regret that are sums over the slots."""

    spread: float | None
    """Σ_i D_i²/(2η_T,i), the first half of the bound; None for rules without a bound"""
    floor: float | None
    """min_{x∈F} (Σ g)·x; None unless certified"""
    theorem: float | None
    touched: int
    """the number of slots that were updated at least once"""
    mixing_cost: float | None = None
    """an upper bound on the total of the mixture minus the total of the best expert"""
    lanes: tuple[Lane, ...] = ()
    """the lanes at rate "auto"; otherwise empty"""
    stack: StackOfLanes | None = None
    """the stack; None without lanes"""


@dataclass(frozen=True)
class Ledger:
    """The losses of a run so far, and upper bounds on its regret.

    >>> ledger = Ledger(Tally(rounds=4, importance=4.0, loss=2.0, mistakes=1.0, energy=3.0),
    ...                 SlotSummary(spread=5.0, floor=None, theorem=None, touched=2), True)
    >>> ledger.mean_loss, ledger.mistake_rate, ledger.bound, ledger.linear_regret
    (0.5, 0.25, 8.0, None)
    """

    tally: Tally
    summary: SlotSummary
    counts_mistakes: bool
    skipped: int = 0
    """the number of bad lines that were skipped"""

    @property
    def rounds(self) -> int:
        """The number of rounds, that is, of examples learned from."""
        return self.tally.rounds

    @property
    def mean_loss(self) -> float | None:
        """Σ importance · loss / Σ importance; None before the first round."""
        return self.mean(self.tally.loss)

    @property
    def mean_penalty(self) -> float | None:
        """Σ importance · (λ/2) Σ w² / Σ importance: 0 without L2; None before the first round."""
        return self.mean(self.tally.penalty)

    @property
    def total(self) -> float:
        """The sum of loss and L2 penalty over all rounds, Σ f_t(x_t). The regret is about it.

        If labels are standardised, it is the sum of the game on standardised labels.
        """
        return self.tally.game_loss + self.tally.penalty

    @property
    def game(self) -> str:
        """The game that regret and bounds are of: "labels as given" or "standardised labels".

        Losses are in the units of the labels in both. In the game on standardised labels the
        regret is in variances of the labels.
        """
        return LABELS_AS_GIVEN if self.tally.standardised_loss is None else STANDARDISED_LABELS

    @property
    def mistake_rate(self) -> float | None:
        """The fraction of rounds with y · margin ≤ 0, by importance; None for regression."""
        return self.mean(self.tally.mistakes) if self.counts_mistakes else None

    @property
    def bound(self) -> float | None:
        """The upper bound on the regret that the paper proves, for the rates that were used.

        None for rules without a bound, and with importance-aware updates, because the bound is
        proved only for gradient steps.
        """
        if self.lanes:
            return self._least_of_lanes([lane.bound for lane in self.lanes])
        return None if self.summary.spread is None else self.tally.energy + self.summary.spread

    @property
    def theorem(self) -> float | None:
        """The bound in closed form: D√(2Σ|g|²) (Theorem 2) or Σ_i D_i√(2Σg_i²) (Theorem 3).

        It is an upper bound on the regret only at ``rate="theory"``. For Global all features must
        also occur in the first round (erratum E15). None for the other rules and at rate "auto".
        """
        return self.summary.theorem

    @property
    def linear_regret(self) -> float | None:
        """The linearised regret: at least the regret, at most the bound; None unless certified."""
        if self.lanes:
            return self._least_of_lanes([lane.linear_regret for lane in self.lanes])
        return None if self.summary.floor is None else self.tally.played - self.summary.floor

    @property
    def lanes(self) -> tuple[Lane, ...]:
        """The lanes at rate "auto", sorted by rate; otherwise empty."""
        return self.summary.lanes

    @property
    def best_lane(self) -> Lane | None:
        """The lane with the largest share of the mixture; None without lanes.

        The share of the stack can be larger.
        """
        return max(self.lanes, key=lambda lane: lane.share, default=None)

    @property
    def stack(self) -> StackOfLanes | None:
        """The stack, an expert of the mixture beside the lanes; None without lanes."""
        return self.summary.stack

    @property
    def mixing_cost(self) -> float | None:
        """An upper bound on the cost of mixing: total ≤ total of the best expert + mixing_cost.

        The experts are the lanes and the stack. For logistic loss with K experts, importances up to
        1 and no fixed share it is at most ln K. If labels are standardised, it is in the units of
        the labels: without L2, loss ≤ loss of the best expert + mixing_cost. None without lanes.
        """
        return self.summary.mixing_cost

    def as_dict(self) -> dict[str, Any]:
        """All numbers of the ledger as a dict, for JSON."""
        return {
            **asdict(self.tally),
            "mean_loss": self.mean_loss,
            "mean_penalty": self.mean_penalty,
            "total": self.total,
            "game": self.game,
            "mistake_rate": self.mistake_rate,
            "bound": self.bound,
            "theorem": self.theorem,
            "linear_regret": self.linear_regret,
            "mixing_cost": self.mixing_cost,
            "lanes": [lane._asdict() for lane in self.lanes],
            "stack": None if self.stack is None else self.stack._asdict(),
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

    def mean(self, total: float | None) -> float | None:
        """A sum over the rounds divided by Σ importance; None before the first round.

        Mean loss, regret a round and bound a round all have this one denominator. Where every
        example has importance 1 it is the number of rounds.
        """
        if total is None or self.tally.importance <= 0:
            return None
        return total / self.tally.importance
