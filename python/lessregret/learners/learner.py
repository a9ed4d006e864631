"""The learner: a spec turned into slots that learn, run by the Rust core.

Every door leads to the same arithmetic: a learner fed from files, from arrays in one batch or many,
or resumed from a model file holds the same bits.

numpy is imported where arrays come in or go out: it takes longer than to learn from a small file.
"""

from __future__ import annotations

import json
import os
from math import isinf
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

from lessregret import _core
from lessregret.errors import SpecError
from lessregret.learners.importance import check_importance_aware
from lessregret.learners.losses import loss_named
from lessregret.learners.mixture import RATES, check_fixed_share
from lessregret.learners.penalty import check_penalty
from lessregret.learners.rules import RULES, PerCoordinate, Rule
from lessregret.learners.scale import check_scale
from lessregret.ledger import Lane, Ledger, Standing, Tally

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

MAX_BITS = 31
MAX_COLUMNS = 2**32 - 2
"""Slots are numbered by 32 bits, and the intercept needs one."""


class Learned(NamedTuple):
    """What a block of examples showed."""

    margins: NDArray[np.float64]
    """each made before its example was learned"""
    labels: NDArray[np.float32]
    importances: NDArray[np.float32]


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
        Whether weights follow the slope as far as the importance leads them, and not beyond the
        label or the kink, rather than go by importance times gradient: see
        :mod:`lessregret.learners.importance`. For rules that step by rate times gradient, without
        L2. There is then no ``bound``; the certificate stays. At a fixed rate a round of
        importance h is h rounds of importance 1; not so at rates that adapt, which take in one
        gradient and not h.
    fixed_share : number from 0 up and below 1, default 0
        At rate "auto", which part of the lanes' shares is dealt out evenly after every round, so
        that a lane can come back when the data drift. It is the chance of a change of lane in a
        round: 1e-4 for one in ten thousand rounds. 0 follows the lane that is best in all.

    >>> learner = Learner("hinge", PerCoordinate(rate=0.5), columns=3, intercept=False)
    >>> learner.learn_rows([0, 2], [0, 2], [1.0, 2.0], labels=[1]).tolist()
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
        check_penalty(rule, l2, l2_scope)
        check_scale(scale)
        if importance_aware:
            check_importance_aware(loss_named(loss), rule, l2)
        check_fixed_share(fixed_share, rule)
        spec = {
            "loss": loss_named(loss).name,
            "rule": rule.spec(),
            "table": _table(bits, columns),
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
        """The spec: loss, rule, table, intercept, certify; the others if not the defaults."""
        spec: dict[str, Any] = json.loads(self._core.spec)
        return spec

    @property
    def core(self) -> _core.Learner:
        """The learner in Rust, for what runs many at once."""
        return self._core

    @property
    def slots(self) -> int:
        """The number of slots, that of the intercept included."""
        return self._core.slots

    def expect(self, features: int) -> None:
        """Be told how many features are to come, at a guess.

        Nothing that is learned depends on it. Where it is many, memory is had in large pages, in
        which a long run is quicker and a short one would only use more of it.
        """
        self._core.expect(features)

    def teach_stream(self, stream: _core.Stream, limit: int) -> int:
        """Learn from the next examples, at most ``limit``; how many there were, 0 at the end.

        As :meth:`learn_stream` for who does not want the margins; it does not even import numpy.
        """
        return self._core.teach_stream(stream, limit)

    def learn_stream(self, stream: _core.Stream, limit: int) -> NDArray[np.float64]:
        """Learn from the next examples, at most ``limit``; their margins, none at the end."""
        return self._core.learn_stream(stream, limit)

    def learn_labelled(self, stream: _core.Stream, limit: int) -> Learned:
        """As :meth:`learn_stream`, with labels and importances beside the margins."""
        return Learned(*self._core.learn_labelled(stream, limit))

    def predict_stream(
        self, stream: _core.Stream, limit: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float32], NDArray[np.float32], list[bytes]]:
        """The margins of the next examples; their labels (NaN where absent), importances, tags."""
        return self._core.predict_stream(stream, limit)

    def learn_rows(
        self,
        indptr: ArrayLike,
        indices: ArrayLike,
        values: ArrayLike,
        labels: ArrayLike,
        importances: ArrayLike | None = None,
    ) -> NDArray[np.float64]:
        """Learn from the rows of a CSR matrix; the margins, each made before its row was learned.

        All rows are checked first; a bad one raises and nothing is learned.
        """
        import numpy as np

        y = np.ascontiguousarray(labels, dtype=np.float64)
        h = None if importances is None else np.ascontiguousarray(importances, dtype=np.float64)
        return self._core.learn_rows(*_csr(indptr, indices, values), y, h)

    def predict_rows(
        self, indptr: ArrayLike, indices: ArrayLike, values: ArrayLike
    ) -> NDArray[np.float64]:
        """The margins of the rows of a CSR matrix."""
        return self._core.predict_rows(*_csr(indptr, indices, values))

    def tally(self) -> Tally:
        """The sums over the rounds so far; costs nothing, unlike the ledger."""
        return Tally(**self._core.tally())

    def ledger(self) -> Ledger:
        """The account so far; walks over all slots."""
        return Ledger(
            self.tally(),
            self._standing(),
            loss_named(self.spec["loss"]).is_classification,
            self._core.skipped,
        )

    def _standing(self) -> Standing:
        spread, floor, theorem, touched, cost, lanes = self._core.standing()
        # The rates as they are written, not as float32 holds them. One lane has no lanes.
        named = tuple(Lane(rate, *lane[1:]) for rate, lane in zip(RATES, lanes, strict=False))
        return Standing(spread, floor, theorem, touched, cost, named)

    def weights(self) -> tuple[NDArray[np.uint32], NDArray[np.float32]]:
        """The touched slots, ascending, and their weights, per unit of the value.

        At rate "auto" they are those of the best lane.
        """
        return self._core.weights()

    def weight(self, slot: int) -> float:
        """The weight that one slot would play, per unit of the value."""
        return self._core.weight(slot)

    def keep_names(self, stream: _core.Stream) -> None:
        """Keep the feature names that a stream recorded."""
        self._core.keep_names(stream)

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


def _table(bits: int | None, columns: int | None) -> dict[str, int]:
    if (bits is None) == (columns is None):
        raise SpecError("a learner needs either bits or columns")
    if bits is not None:
        return {"bits": _whole("bits", bits, 1, MAX_BITS)}
    return {"columns": _whole("columns", columns, 0, MAX_COLUMNS)}


def _whole(name: str, value: Any, least: int, most: int) -> int:
    if isinstance(value, Integral) and least <= int(value) <= most:
        return int(value)
    raise SpecError(f"{name} must be a whole number from {least} to {most}, found {value!r}")


def _csr(
    indptr: ArrayLike, indices: ArrayLike, values: ArrayLike
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """The arrays of a CSR matrix, in place if their types are ones that Rust reads."""
    import numpy as np

    floats = _typed(values, np.float32, np.float64)
    return _typed(indptr, np.int32, np.int64), _typed(indices, np.int32, np.int64), floats


def _typed(array: ArrayLike, narrow: type, wide: type) -> NDArray[Any]:
    import numpy as np

    given = np.asarray(array)
    dtype = given.dtype if given.dtype in (narrow, wide) else wide
    return np.ascontiguousarray(given, dtype=dtype)
