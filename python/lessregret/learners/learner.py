"""The learner: a spec turned into slots that learn, run by the Rust core.

Every door leads to the same arithmetic: a learner fed from files, from arrays in one batch or many,
or resumed from a model file holds the same bits.

numpy is imported where arrays come in or go out: it takes longer than to learn from a small file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from math import isinf
from typing import TYPE_CHECKING, Any, Protocol

from lessregret import _core
from lessregret.errors import InputError, SpecError
from lessregret.learners.losses import loss_named
from lessregret.learners.mixture import RATES, check_share
from lessregret.learners.outcomes import Outcomes
from lessregret.learners.penalty import check_scope, check_strength
from lessregret.learners.rules import RULES, PerCoordinate, Rule
from lessregret.learners.space import FeatureSpace
from lessregret.ledger import Lane, Ledger, SlotSummary, Tally

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray


class Source(Protocol):
    """A source of examples: a stream of files, examples in memory, or the rows of a matrix."""

    @property
    def core(self) -> _core.Stream | _core.Examples | _core.Rows:
        """The source in Rust."""
        ...


class Learner:
    """A rule run on every coordinate, predicting each example before learning from it.

    Parameters
    ----------
    loss : "logistic", "hinge" or "squared"
        The loss of the margin.
    rule : Rule, default PerCoordinate()
        The one-dimensional algorithm that every coordinate runs.
    bits, columns : int, one of them
        The size of the table: 2^bits slots for hashed features, or one slot a column.
    intercept : bool, default True
        Whether every example has one more feature, of value 1, in a slot of its own.
    certify : bool, default False
        Whether to sum the gradients, 8 bytes a slot, for the linearised regret.
    box : (low, high) arrays, optional
        The feasible interval of each column, in place of the rule's own.
    l2 : number from 0 up, default 0
        λ: every round adds (λ/2) Σ w² over the weights of its features to its loss. Only for rules
        with a box; not to be confused with ``Ftrl(l2=...)``, which counts once.
    l2_scope : "active" or "all", default "active"
        Which weights: those of the example's features, or of all coordinates touched so far. The
        second walks over all slots in every round.
    scale : "none", "cap" or "full", default "cap"
        What values are divided by: nothing, the largest of the feature met so far if above 1, or
        that in any case. ``"cap"`` changes nothing for 0/1 and unit-length data and makes large
        values harmless; ``"full"`` is for tables of numbers in mixed units.
    importance_aware : bool, default False
        Whether to use importance-aware updates (Karampatziakis & Langford 2011): an example of
        importance h moves the weights as h small steps would, so that a large importance does not
        overshoot the label. Only for rules that step by rate times gradient, without L2. There is
        no regret bound for such updates; the linearised regret stays valid.
    fixed_share : number from 0 up and below 1, default 0
        For data that drift, at rate "auto": after each example this part of the mixture's weight is
        spread evenly over the eight rates, so that another rate can take over (Herbster & Warmuth
        1998). 1e-4 suits a change in about ten thousand examples.

    >>> from lessregret.data.examples import Rows
    >>> learner = Learner("hinge", PerCoordinate(rate=0.5), columns=3, intercept=False)
    >>> rows = Rows([0, 2], [0, 2], [1.0, 2.0], labels=[1], space=learner)
    >>> learner.learn(rows).margins.tolist()
    [0.0]
    >>> learner.ledger().mean_loss
    1.0
    """

    def __init__(
        self,
        loss: str = "logistic",
        rule: Rule | None = None,
        *,
        bits: int | None = None,
        columns: int | None = None,
        intercept: bool = True,
        certify: bool = False,
        box: tuple[ArrayLike, ArrayLike] | None = None,
        l2: float = 0.0,
        l2_scope: str = "active",
        scale: str = "cap",
        importance_aware: bool = False,
        fixed_share: float = 0.0,
    ) -> None:
        rule = PerCoordinate() if rule is None else rule
        if not has_twin(rule):
            raise SpecError(f"rule {rule.name!r} has no twin in Rust; run it in a ReadableLearner")
        loss = loss_named(loss).name
        # What JSON cannot carry is checked here; the core checks the rest, and what goes together.
        check_strength(l2)
        check_scope(l2_scope)
        check_share(fixed_share)
        space = FeatureSpace(bits=bits, columns=columns, intercept=intercept, scale=scale)
        spec = {
            "loss": loss,
            "rule": rule.spec(),
            "table": space.table,
            "intercept": bool(intercept),
            "certify": bool(certify),
            "l2": float(l2),
            "l2_scope": l2_scope,
            "scale": scale,
            "importance_aware": bool(importance_aware),
            "fixed_share": float(fixed_share),
        }
        low, high = (None, None) if box is None else box_ends(box, rule, intercept)
        self._core = _core.Learner(json.dumps(spec), low, high)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Learner:
        """Read a model file and go on as if never stopped."""
        return cls._around(_core.Learner.load(path))

    @classmethod
    def from_bytes(cls, content: bytes) -> Learner:
        """Read what :meth:`to_bytes` gave."""
        return cls._around(_core.Learner.from_bytes(content))

    def save(self, path: str | os.PathLike[str], *, slim: bool = False) -> None:
        """Write a model file; the file is afterwards whole, or as it was.

        A slim file holds only the weights that are not zero: enough to predict, not to go on.
        """
        self._core.save(path, slim)

    def to_bytes(self) -> bytes:
        """The model file as bytes."""
        return self._core.to_bytes()

    @property
    def spec(self) -> dict[str, Any]:
        """The spec with every key, as the core checked it."""
        spec: dict[str, Any] = json.loads(self._core.spec)
        return spec

    @property
    def space(self) -> FeatureSpace:
        """What examples must agree about with the learner."""
        return FeatureSpace.from_json(self._core.space)

    @property
    def slots(self) -> int:
        """The number of slots, that of the intercept included."""
        return self.space.slots

    def expect(self, features: int) -> None:
        """Be told how many features are to come, at a guess.

        Nothing that is learned depends on it. Where it is many, memory is had in large pages, in
        which a long run is quicker and a short one would only use more of it.
        """
        self._core.expect(features)

    def learn(
        self, examples: Source, *, limit: int | None = None, order: ArrayLike | None = None
    ) -> Outcomes:
        """Learn from examples, each predicted before it is learned.

        Parameters
        ----------
        examples : ExampleStream, Examples or Rows
            They must have been read for this learner's feature space; another is refused. All rows
            of a matrix are checked first; a bad one raises and nothing is learned.
        limit : int, optional
            For a stream: read one block of at most so many examples; an empty outcome means that
            the stream is at its end. Without it all that is left is learned from.
        order : array of numbers, optional
            For examples in memory: which to learn from, in which order.
        """
        return Outcomes(self._core.learn(examples.core, limit, _numbers(order)))

    def predict(
        self, examples: Source, *, limit: int | None = None, order: ArrayLike | None = None
    ) -> Outcomes:
        """The margins of examples; nothing is learned. The parameters are those of `learn`."""
        return Outcomes(self._core.predict(examples.core, limit, _numbers(order)))

    def tally(self) -> Tally:
        """The sums over the rounds so far; costs nothing, unlike the ledger."""
        return Tally(*self._core.tally())

    def ledger(self) -> Ledger:
        """The account so far; walks over all slots."""
        return Ledger(
            self.tally(),
            self._summary(),
            loss_named(self.spec["loss"]).is_classification,
            self._core.skipped,
        )

    def _summary(self) -> SlotSummary:
        spread, floor, theorem, touched, cost, lanes = self._core.summary()
        # The rates as they are written, not as float32 holds them. One lane has no lanes.
        named = tuple(Lane(rate, *lane[1:]) for rate, lane in zip(RATES, lanes, strict=False))
        return SlotSummary(spread, floor, theorem, touched, cost, named)

    def weights(self) -> tuple[NDArray[np.uint32], NDArray[np.float32]]:
        """The touched slots, ascending, and their weights, per unit of the value.

        At rate "auto" they are those of the best lane.
        """
        return self._core.weights()

    def weight(self, slot: int) -> float:
        """The weight that one slot would play, per unit of the value."""
        return self._core.weight(slot)

    def dense_weights(self) -> NDArray[np.float32]:
        """The weights of all slots of features, untouched ones included."""
        return self._core.dense_weights()

    def keep_names(self, examples: Source) -> None:
        """Keep the feature names that a stream recorded."""
        if isinstance(examples.core, _core.Stream):
            self._core.keep_names(examples.core)

    def name(self, slot: int) -> tuple[str, bool] | None:
        """The name of a slot, where names are kept, and whether another feature shares it."""
        return self._core.name(slot)

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        return Learner.from_bytes, (self.to_bytes(),)

    @classmethod
    def _around(cls, core: _core.Learner) -> Learner:
        learner = cls.__new__(cls)
        learner._core = core
        return learner


def has_twin(rule: Rule) -> bool:
    """Whether Rust has this very rule; a subclass with a way of its own is another rule."""
    return RULES.get(rule.name) is type(rule)


def box_ends(
    box: tuple[ArrayLike, ArrayLike], rule: Rule, intercept: bool
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The ends of all intervals; the intercept's, which is the last slot, is the rule's own."""
    import numpy as np

    if isinf(rule.width):
        raise SpecError(f"rule {rule.name!r} has no feasible set, so it cannot be given a box")
    low, high = (np.array(end, dtype=np.float32) for end in box)
    if low.ndim != 1 or low.shape != high.shape:
        raise SpecError(f"box must be two lists of equal length, found {low.shape}, {high.shape}")
    if intercept:
        low, high = np.append(low, rule.low), np.append(high, rule.high)
    return low.astype(np.float32), high.astype(np.float32)


def learn_many(
    learners: Sequence[Learner],
    examples: Source,
    *,
    limit: int | None = None,
    order: ArrayLike | None = None,
) -> int:
    """Let many learners learn from the same examples, on all cores; how many examples there were.

    Examples are read once. Each learner holds afterwards the bits that it would hold had it run
    alone. The other parameters are those of :meth:`Learner.learn`.
    """
    cores = [learner._core for learner in learners]
    if len(set(map(id, cores))) < len(cores):
        raise SpecError("a learner is given twice; learn_many wants each of them once")
    return _core.learn_many(cores, examples.core, limit, _numbers(order))


def _numbers(order: ArrayLike | None) -> NDArray[np.uint32] | None:
    """The order as the core reads it; what a cast would change is refused."""
    if order is None:
        return None
    import numpy as np

    given = np.asarray(order)
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise InputError("order", 0, 0, repr(order), "a list of whole numbers")
    if given.size and not 0 <= given.min() <= given.max() < 1 << 32:
        outside = given.min() if given.min() < 0 else given.max()
        raise InputError("order", 0, 0, str(outside), "whole numbers from 0 to 4294967295")
    return np.ascontiguousarray(given, dtype=np.uint32)
