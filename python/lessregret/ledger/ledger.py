"""The ledger: the losses of a run, and upper bounds on its regret.

Regret is the loss of the run minus the loss of the best fixed point of the feasible set F:

    regret = Σ f_t(x_t) − min_{x∈F} Σ f_t(x)

With L2, f_t includes the penalty of the round, and Σ f_t(x_t) is ``total``, not the loss alone.

Three numbers limit the regret without the best fixed point:

    certified       what no fixed weights of a given size could have lost less than: measured
    linear_regret   total minus what is certified of the feasible set: measured
    bound           Σ_i [D_i²/(2η_T,i) + ½ Σ_t g²_t,i η_t,i] for the rates that were used: proved

``certified`` is for every size of weights, also for a size other than that of the feasible set; see
``ledger/certificate.py``. ``theorem`` is the bound in closed form, for the rates of the theorems.

At rate "auto" several lanes are trained at the same time, and the prediction is a mixture of them
and of the stack, which learns how to add up their margins. The lanes and the stack are the experts
of the mixture. What is certified comes from the predictions of the mixture. Each lane k has its own
bound_k. Let L_k be the total of lane k and L the total of the mixture. For every k the regret of
the mixture is at most L − L_k + bound_k. The ledger reports the smallest of these numbers. It is
computed from the tally of a learner and a summary of its slots, never from features.

If labels are standardised (scale "standard", labels that are numbers or counts), regret and bounds
are those of the game on standardised labels, Σ ℓ(m_t, ŷ_t) with m the margin, and total is the loss
of that game; the loss is in the units of the labels.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, overload

from lessregret.errors import SpecError
from lessregret.ledger.certificate import Certificate, Shape, Statement
from lessregret.ledger.lanes import Lane, SlotSummary, StackOfLanes
from lessregret.ledger.shown import as_table, in_one_line
from lessregret.ledger.tally import Tally

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LABELS_AS_GIVEN = "labels as given"
STANDARDISED_LABELS = "standardised labels"
VARIANCES = "in variances of the labels"
"""The unit of losses and regret in the game on standardised labels."""


@dataclass(frozen=True, repr=False)
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
    certificate: Certificate | None = None
    """what the run certifies of all fixed weights; None unless certified"""
    units: str = VARIANCES
    """what the numbers of the game on standardised labels are in"""

    def __repr__(self) -> str:
        return in_one_line(self)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return as_table(self)

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
        regret is in ``units``: variances of the labels for squared loss.
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
        """The linearised regret against the feasible set, at least the regret.

        It is the total of the run minus what is certified of the feasible set, or the bound where
        that is smaller, as it can be with lanes. None unless certified, and for rules without a
        feasible set.
        """
        if self.certificate is None or self.summary.floor is None:
            return None
        measured = self.total - self.certificate.offset - self.summary.floor
        return min(measured, self.bound) if self.lanes and self.bound is not None else measured

    @overload
    def certified(
        self, radius: float, shape: Shape = "box", *, intercept: float | None = None
    ) -> float: ...

    @overload
    def certified(
        self, radius: NDArray[np.float64], shape: Shape = "box", *, intercept: float | None = None
    ) -> NDArray[np.float64]: ...

    def certified(
        self, radius: Any, shape: Shape = "box", *, intercept: float | None = None
    ) -> Any:
        """The mean loss below which no fixed weights of this size are, whatever they are.

        Parameters
        ----------
        radius : number from 0 up, or an array of them
            The size of the weights, for values as the learner scales them.
        shape : "box", "ball" or "l1", default "box"
            How size is measured: the largest weight, the root of the sum of squares, or the sum of
            the absolute weights.
        intercept : number from 0 up, optional
            The limit of the absolute weight of the intercept, which does not count in the size. The
            default is the size of the learned intercept.

        >>> from lessregret.ledger import Certificate, Norms
        >>> certificate = Certificate(2.0, Norms.of([0.3, -0.4]), Norms.of([1.0, 1.0]))
        >>> summary = SlotSummary(spread=None, floor=None, theorem=None, touched=2)
        >>> tally = Tally(rounds=4, importance=4.0, loss=2.4)
        >>> ledger = Ledger(tally, summary, True, 0, certificate)
        >>> ledger.certified(1.0, "ball"), ledger.certified(1.0, "l1")
        (0.375, 0.4)
        """
        if self.tally.importance <= 0:
            raise SpecError(
                "nothing is certified before the first round; learn from examples first"
            )
        return self._known_certificate().least(radius, shape, intercept) / self.tally.importance

    def against(self, weights: Any) -> float:
        """A lower bound on the mean loss of these fixed weights, for values as scaled.

        ``weights`` is a dict from slots to weights, or has one weight for each slot, that of the
        intercept included.
        """
        if self.tally.importance <= 0:
            raise SpecError(
                "nothing is certified before the first round; learn from examples first"
            )
        return self._known_certificate().against(weights) / self.tally.importance

    @property
    def statement(self) -> Statement | None:
        """What is certified of fixed weights in the ball of the learned weights' own size.

        None unless certified, and before the first round.
        """
        lost = self.mean(self.total)
        if self.certificate is None or lost is None:
            return None
        size, limit = self.certificate.size("ball"), abs(self.certificate.intercept_weight)
        # A run that follows a change can lose less than is certified of all fixed weights. Then
        # nothing is left.
        certified = min(lost, self.certified(size, "ball"))
        return Statement("ball", size, limit, lost, certified)

    def _known_certificate(self) -> Certificate:
        if self.certificate is None:
            raise SpecError("the run kept no gradient sums; train with certify=True")
        return self.certificate

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
            "statement": None if self.statement is None else self.statement.as_dict(),
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
