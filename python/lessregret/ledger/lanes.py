"""What the ledger knows of the slots, the lanes and the stack."""

from __future__ import annotations

from typing import NamedTuple


class Lane(NamedTuple):
    """The numbers of one lane: one of the models that are trained at the same time and mixed.

    >>> Lane("rate 0.1", 0.1, 0.9, 7.0, played=2.0, energy=3.0, spread=5.0).bound
    8.0
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


class StackOfLanes(NamedTuple):
    """The numbers of the stack, the expert that learns how to add up the margins of the lanes.

    It has no weights of its own, so no bound.

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
    """min_{x∈F} G·x, with G of the certificate; None unless certified"""
    theorem: float | None
    touched: int
    """the number of slots that were updated at least once"""
    mixing_cost: float | None = None
    """an upper bound on the total of the mixture minus the total of the best expert"""
    lanes: tuple[Lane, ...] = ()
    """the lanes at rate "auto"; otherwise empty"""
    stack: StackOfLanes | None = None
    """the stack; None without lanes"""
