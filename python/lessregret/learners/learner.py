"""The learner: a linear model that is trained by a rule, in the Rust core.

The weights do not depend on how the examples arrive: a learner that reads files, takes arrays in
one batch or in many, or resumes from a model file computes the same bits.

numpy is imported only where arrays are passed in or out, because importing it takes longer than
learning from a small file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from lessregret import _core
from lessregret.errors import SpecError
from lessregret.learners.boxes import box_ends
from lessregret.learners.explanation import (
    Explanation,
    Features,
    NameOf,
    both_names,
    explanation,
)
from lessregret.learners.importance import default_importance_aware
from lessregret.learners.losses import loss_named
from lessregret.learners.many_classes import many_classes
from lessregret.learners.mixture import (
    check_share,
    default_certify,
    default_share,
    lane_name,
    lane_rates,
)
from lessregret.learners.namespaces import Namespaces
from lessregret.learners.outcomes import Outcomes
from lessregret.learners.penalty import check_scope, check_strength
from lessregret.learners.rules import RULES, PerCoordinate, Rule
from lessregret.learners.schema import Schema
from lessregret.learners.sources import Source, checked_limit, checked_order, core_of
from lessregret.learners.space import FeatureSpace
from lessregret.ledger import (
    Certificate,
    Lane,
    Ledger,
    Norms,
    SlotSummary,
    StackOfLanes,
    Tally,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    SlotSums = Callable[[], tuple[NDArray[np.uint32], NDArray[np.float64]]]
    ThreeNorms = tuple[float, float, float]
    CertificateParts = tuple[float, ThreeNorms, ThreeNorms, float, float]
    LaneParts = tuple[float | None, float, float, float, float, float | None, float, float | None]
    SummaryParts = tuple[
        float | None,
        float | None,
        float | None,
        int,
        float | None,
        list[LaneParts],
        tuple[float, float, float] | None,
        CertificateParts | None,
    ]


class Learner:
    """A linear model trained online, which predicts each example before it learns from it.

    The rule updates the weight of each coordinate separately.

    Threads may share a learner. Predictions never fail and never see a part of a round: each is
    that of the learner before or after some whole batch of another thread. A prediction waits for
    at most one batch: 64 examples, or 16,384 if nobody had to wait shortly before. Threads that
    learn take turns, batch by batch.

    Parameters
    ----------
    loss : str
        The loss to minimise, by its name; a parameter follows a colon: ``"quantile:0.9"``.
    rule : Rule, default PerCoordinate()
        The update rule, a one-dimensional online algorithm that runs on every coordinate.
    bits, columns : int
        The number of slots; give exactly one of the two. ``bits`` makes a hash table of 2^bits
        slots for named features. ``columns`` makes one slot for each column of a matrix.
    intercept : bool, default True
        Whether to learn an intercept (bias) weight, in an extra slot.
    certify : bool, optional
        Whether to keep the sums that certify what no fixed weights of any given size could have
        lost less than (``Ledger.certified``). This needs 8 more bytes of memory for each slot. The
        default is True at rate "auto", where it takes little time, and False otherwise.
    box : (low, high) arrays, optional
        The smallest and the largest weight allowed in each slot of a feature. Without it the
        interval of the rule (its ``radius`` or ``box``) holds for all slots. If values are scaled,
        the limits apply to the weights of the scaled values.
    l2 : number from 0 up, default 0
        The strength λ of L2 regularisation: (λ/2) Σ w² over the weights of an example's features is
        added to the loss of that example. Only for rules with a feasible set. The parameter of
        ``Ftrl(l2=...)`` is different: its penalty is added once for the whole run.
    l2_scope : "active" or "all", default "active"
        Which weights ``l2`` penalises for an example: those of the example's features, or those of
        all features met so far. ``"all"`` is slow, since every example then updates all weights.
    scale : "none", "cap", "full" or "standard", default "standard"
        How values are scaled. ``"standard"`` subtracts the mean of a feature that is in every
        example and divides by its standard deviation; it divides other features by their root mean
        square, if that is above 1. It leaves 0/1 data and unit-length rows unchanged, and an
        explicit zero is a value for it. Labels that are numbers or counts it standardises, too: the
        limits of the weights and L2 are then in standard deviations of the labels, predictions are
        in their units. ``"full"`` divides each value by the largest absolute value that the feature
        has had so far. ``"cap"`` does so only if that largest value is above 1; its divisor at most
        doubles in each round, so that a single outlier does not make all later values of the
        feature tiny. ``"none"`` leaves all values as they are.
    importance_aware : bool, optional
        Whether to use importance-aware updates (Karampatziakis & Langford 2011): an example with
        importance h moves the weights as many small steps of total importance h would. A large
        importance then does not overshoot the label. Only for rules that move weights by rate times
        gradient, and only without L2. There is no regret bound for such updates; the linearised
        regret remains an upper bound on the regret. The default is True for Poisson loss at rate
        "auto", whose slope is so steep that a step by it alone goes too far, and False otherwise.
    fixed_share : number from 0 up and below 1, optional
        For data that drift, only at rate "auto": after each example this fraction of the mixture
        weights is shared equally among the experts, so that another expert can become the best one
        (Herbster & Warmuth 1998). The default, 1e-4 at rate "auto", costs at most 1e-4 nats an
        example.
    schema : Schema, optional
        What the columns of a table are, for a learner of the rows of tables.
    namespaces : Namespaces, optional
        Which namespaces of Vowpal Wabbit text are read and which are crossed, for a learner with
        ``bits``. The model file holds them, so that new data are read in the same way.

    classes : "auto", int or list of ints, optional
        For more than two classes: those that are known. A class is a whole number, the label of its
        examples; 20 means the classes 1 to 20. Classes that are given count from the first example
        on, and any other label is an error. ``"auto"`` finds classes as they come: each starts with
        weights of 0 and counts from its first example on. Logistic loss is then multinomial, hinge
        loss that of each class against the rest. Only for rules that follow the gradient, without
        ``l2`` and ``importance_aware``.

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
        certify: bool | None = None,
        box: tuple[ArrayLike, ArrayLike] | None = None,
        l2: float = 0.0,
        l2_scope: str = "active",
        scale: str = "standard",
        importance_aware: bool | None = None,
        fixed_share: float | None = None,
        schema: Schema | None = None,
        namespaces: Namespaces | None = None,
        classes: Literal["auto"] | int | Sequence[int] | None = None,
    ) -> None:
        rule = PerCoordinate() if rule is None else rule
        if not has_twin(rule):
            raise SpecError(f"rule {rule.name!r} has no twin in Rust; run it in a ReadableLearner")
        known = loss_named(loss)
        # What JSON cannot carry is checked here; the core checks the rest, and what goes together.
        check_strength(l2)
        check_scope(l2_scope)
        if importance_aware is None:
            importance_aware = default_importance_aware(known, rule, l2)
        fixed_share = default_share(rule) if fixed_share is None else fixed_share
        check_share(fixed_share)
        space = FeatureSpace(bits=bits, columns=columns, intercept=intercept, scale=scale)
        spec = {
            "loss": known.name,
            "rule": rule.spec(),
            "table": space.table,
            "intercept": bool(intercept),
            "certify": default_certify(rule) if certify is None else bool(certify),
            "l2": float(l2),
            "l2_scope": l2_scope,
            "scale": scale,
            "importance_aware": bool(importance_aware),
            "fixed_share": float(fixed_share),
            "schema": schema and schema.as_dict(),
            "namespaces": namespaces and namespaces.as_dict(),
            "classes": many_classes(classes, schema.names if schema else ()),
        }
        low, high = (None, None) if box is None else box_ends(box, rule, intercept)
        self._core = _core.Learner(json.dumps(spec), low, high)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Learner:
        """Read a model file. Training can continue from it as if it had never stopped."""
        return cls._around(_core.Learner.load(path))

    @classmethod
    def from_bytes(cls, content: bytes) -> Learner:
        """The learner that :meth:`to_bytes` wrote."""
        return cls._around(_core.Learner.from_bytes(content))

    def save(self, path: str | os.PathLike[str], *, slim: bool = False) -> None:
        """Write a model file. The write is atomic: if it fails, an existing file is unchanged.

        A slim file holds only the nonzero weights. It can be used to predict but not to continue
        training.
        """
        self._core.save(path, slim)

    def with_classes(self, negative: str | None, positive: str) -> Learner:
        """A copy of the learner whose model file holds the names of the two classes."""
        copy = Learner.from_bytes(self.to_bytes())
        copy._core.name_classes(negative, positive)
        return copy

    def with_class_names(self, names: Sequence[str]) -> Learner:
        """A copy of a learner of many classes whose model file holds their names.

        The class 0 has the first name, the class 1 the second. Names may be more than there were:
        a class that is new starts with weights of 0.
        """
        copy = Learner.from_bytes(self.to_bytes())
        copy._core.name_many_classes(list(names))
        return copy

    @property
    def classes(self) -> list[int] | None:
        """The classes in the order of their margins; None unless there may be more than two."""
        return self._core.classes()

    @property
    def class_names(self) -> list[str] | None:
        """The names of the classes, in the order of their margins; numbers where there are none."""
        classes, schema = self.classes, self.space.schema
        if classes is None:
            return None
        names = schema.names if schema else ()
        return [names[code] if 0 <= code < len(names) else str(code) for code in classes]

    def add_classes(self, classes: Sequence[int]) -> None:
        """Add classes to a learner of many classes. Those that are known stay as they are.

        A new class starts with weights of 0. It counts from the next example on, or from its first
        example on if classes are found as they come (``classes="auto"``).
        """
        self._core.add_classes(list(classes))

    def to_bytes(self) -> bytes:
        """The content that :meth:`save` would write, as bytes."""
        return self._core.to_bytes()

    @property
    def spec(self) -> dict[str, Any]:
        """The settings of the learner as a dict, with defaults filled in."""
        spec: dict[str, Any] = json.loads(self._core.spec)
        return spec

    @property
    def space(self) -> FeatureSpace:
        """The feature space of the learner. Examples must have been read for an equal one."""
        return FeatureSpace.from_json(self._core.space)

    @property
    def slots(self) -> int:
        """The number of slots, including the slot of the intercept."""
        return self.space.slots

    def expect(self, features: int) -> None:
        """Announce about how many features will be read, so that memory is allocated to suit.

        The weights do not depend on it. If the number is large, memory is allocated in large pages,
        which makes a long run faster. A short run would only use more memory.
        """
        self._core.expect(features)

    def learn(
        self, examples: Source, *, limit: int | None = None, order: ArrayLike | None = None
    ) -> Outcomes:
        """Train on examples. Each example is predicted before the model learns from it.

        Parameters
        ----------
        examples : ExampleStream, Examples or Rows
            The examples. They must have been read for the feature space of this learner; otherwise
            a SpecError is raised. The rows of a matrix are all checked before training starts.
        limit : int from 1 up, optional
            For a stream only: the largest number of examples to read. Without it the stream is read
            to its end. If no outcomes are returned, the stream has ended.
        order : array of ints, optional
            For examples in memory: the numbers of the examples to learn from, in this order.
        """
        core = core_of(examples)
        return Outcomes(self._core.learn(core, checked_limit(limit), checked_order(order)))

    def predict(
        self, examples: Source, *, limit: int | None = None, order: ArrayLike | None = None
    ) -> Outcomes:
        """Predict examples without learning from them; labels may be missing.

        The parameters are those of :meth:`learn`.
        """
        core = core_of(examples)
        return Outcomes(self._core.predict(core, checked_limit(limit), checked_order(order)))

    def learn_one(
        self, features: Mapping[str, Any], label: float, importance: float = 1.0
    ) -> float | None:
        """Train on one example, a dict of numbers and words; returns the margin played before.

        A word makes the feature "key=word" with value 1. The bits are those of the same example in
        a batch. Returns None, and learns nothing, if a value is neither a finite number nor a word
        or if the learner has columns, namespaces or a schema: such examples need a batch.

        >>> learner = Learner("hinge", PerCoordinate(rate=0.5), bits=10, scale="none")
        >>> learner.learn_one({"age": 2.0, "word": "ham"}, 1), learner.predict_one({"word": "ham"})
        (0.0, 1.0)
        """
        return self._core.learn_one(features, label, importance)

    def predict_one(self, features: Mapping[str, Any]) -> float | None:
        """The margin of one example, a dict; None where :meth:`learn_one` learns nothing."""
        return self._core.predict_one(features)

    def explain(
        self, examples: Source, *, limit: int | None = None, order: ArrayLike | None = None
    ) -> list[Explanation]:
        """What each feature gives to the predictions of examples, without learning from them.

        The parts of an :class:`Explanation` add up to the margin that :meth:`predict` returns. The
        parameters are those of :meth:`learn`; labels may be missing. Features have names if the
        model keeps names, or if the examples are a stream that records them
        (``open_examples(..., names=True)``).

        >>> from lessregret.data.examples import Rows
        >>> learner = Learner("hinge", PerCoordinate(rate=0.5), columns=3, scale="none")
        >>> outcomes = learner.learn(Rows([0, 2], [0, 2], [1.0, 2.0], labels=[1], space=learner))
        >>> [explained] = learner.explain(Rows([0, 2], [1, 2], [3.0, -2.0], space=learner))
        >>> explained.margin, [(part.slot, part.weight, part.part) for part in explained.parts]
        (-0.5, [(2, 0.5, -1.0), (3, 0.5, 0.5), (1, 0.0, 0.0)])
        """
        core = core_of(examples)
        found = self._core.explain(core, checked_limit(limit), checked_order(order))
        name_of: NameOf = self._core.name
        if isinstance(core, _core.Stream):
            name_of = both_names(name_of, core.name)
        intercept = self.slots - 1 if self.space.intercept else None
        return [
            explanation(margin, Features(parts, base, mean, clipping), name_of, intercept, y, tag)
            for margin, y, tag, parts, base, mean, clipping in found
        ]

    def tally(self) -> Tally:
        """The sums of losses, mistakes and importances so far. Unlike the ledger it is free."""
        return Tally(*self._core.tally())

    def ledger(self) -> Ledger:
        """The losses and the regret so far. Computing them takes a pass over all slots in use."""
        counted, sums_of_slots, skipped = self._core.totals()
        tally = Tally(*counted)
        summary, certificate = self._summary(sums_of_slots, partial(self._sums_at, tally.rounds))
        loss = loss_named(self.spec["loss"])
        counts = loss.is_classification
        return Ledger(tally, summary, counts, skipped, certificate, loss.units)

    def mark_sums(self) -> _core.SumsMark | None:
        """A copy of the sums of the certificate so far, for :meth:`certificate_since`."""
        return self._core.mark_sums()

    def certificate_since(self, mark: _core.SumsMark) -> Certificate | None:
        """What the rounds since a mark certify of all fixed weights; None unless certified."""
        return _certificate(self._core.certificate(mark))

    def _sums_at(self, rounds: int) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
        """The slots and their gradient sums, if nothing was learned since this round."""
        sums = self._core.gradient_sums()
        if sums is None or self.tally().rounds != rounds:
            raise SpecError(
                f"the ledger is of round {rounds:,}, and the learner has learned since; "
                "ask it for a new ledger"
            )
        return sums

    def _summary(
        self, parts: SummaryParts, sums: SlotSums
    ) -> tuple[SlotSummary, Certificate | None]:
        spread, floor, theorem, touched, cost, lanes, stack, certificate = parts
        # The rates as they are written, not as float32 holds them. One lane has no lanes.
        rates = lane_rates(RULES[self.spec["rule"]["name"]])
        known = zip(rates, lanes, strict=False)
        named = tuple(Lane(lane_name(rate), rate, *lane[1:]) for rate, lane in known)
        stacked = None if stack is None else StackOfLanes(*stack)
        summary = SlotSummary(spread, floor, theorem, touched, cost, named, stacked)
        return summary, _certificate(certificate, sums)

    def weights(self) -> tuple[NDArray[np.uint32], NDArray[np.float32]]:
        """The slots that were updated, in ascending order, and their weights for unscaled values.

        At rate "auto" the weights are those of the lane with the largest share of the mixture.
        """
        slots, weights = self._core.weights()
        return slots, self._by_class(weights)

    def fill(self) -> tuple[int, int, tuple[int, int] | None]:
        """Touched slots of features, and how many of them are followed by a touched one.

        If names are kept, also the number of slots with a name and of those with several names.
        :func:`lessregret.learners.fill.fill_of` tells what follows from it.
        """
        return self._core.fill()

    def weight(self, slot: int) -> float:
        """The current weight of one slot, for unscaled values; of many classes the first one's."""
        return self._core.weight(slot)

    def class_weights(self, slot: int) -> NDArray[np.float32]:
        """The current weights of one slot, one for each of many classes, for unscaled values."""
        import numpy as np

        return np.array(self._core.class_weights(slot), dtype=np.float32)

    def dense_weights(self) -> NDArray[np.float32]:
        """The weights of all slots except the intercept, also of slots never updated.

        Of many classes a row for each slot, with the weight of every class.
        """
        return self._by_class(self._core.dense_weights())

    def _by_class(self, weights: NDArray[np.float32]) -> NDArray[np.float32]:
        classes = self.classes
        return weights if classes is None else weights.reshape(-1, len(classes))

    def keep_names(self, examples: Source) -> None:
        """Store the feature names that a stream recorded (``open_examples(..., names=True)``)."""
        core = core_of(examples)
        if isinstance(core, _core.Stream):
            self._core.keep_names(core)

    def name(self, slot: int) -> tuple[str, bool] | None:
        """The feature name of a slot, and whether other features share it; None if unknown."""
        return self._core.name(slot)

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        return Learner.from_bytes, (self.to_bytes(),)

    @classmethod
    def _around(cls, core: _core.Learner) -> Learner:
        learner = cls.__new__(cls)
        learner._core = core
        return learner


def _certificate(
    parts: CertificateParts | None,
    vector: SlotSums | None = None,
) -> Certificate | None:
    if parts is None:
        return None
    offset, sums, weights, intercept_sum, intercept_weight = parts
    norms = Norms(*sums), Norms(*weights)
    return Certificate(offset, *norms, intercept_sum, intercept_weight, vector)


def has_twin(rule: Rule) -> bool:
    """Whether Rust has this very rule; a subclass with a way of its own is another rule."""
    return RULES.get(rule.name) is type(rule)


def learn_many(
    learners: Sequence[Learner],
    examples: Source,
    *,
    limit: int | None = None,
    order: ArrayLike | None = None,
    metrics: Sequence[_core.Metrics] = (),
) -> int:
    """Train several learners on the same examples, in parallel; return the number of examples.

    The examples are read once. Each learner computes the same bits as if it had been trained alone.
    The rounds of each learner are added to its metrics, if there are any. The other parameters are
    those of :meth:`Learner.learn`.
    """
    cores = [learner._core for learner in learners]
    if len(set(map(id, cores))) < len(cores):
        raise SpecError("a learner is given twice; learn_many wants each of them once")
    given = core_of(examples), checked_limit(limit), checked_order(order)
    return _core.learn_many(cores, *given, list(metrics))
