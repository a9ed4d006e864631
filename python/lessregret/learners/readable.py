"""The readable learner: plain Python in float64, with the slots in a dictionary.

It computes the same numbers as ``crates/core/src/learn/``, up to float32 rounding; the tests in
``tests/twins`` compare the two. It also runs rules that exist only in Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from math import isinf
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lessregret.errors import SpecError
from lessregret.learners.explanation import Explanation, Features, explanation
from lessregret.learners.importance import (
    check_importance_aware,
    default_importance_aware,
    push,
)
from lessregret.learners.labels import LabelsAsGiven, labels_of
from lessregret.learners.losses import Loss, loss_named
from lessregret.learners.mixture import (
    LANES,
    Mixture,
    check_fixed_share,
    default_certify,
    default_share,
    lane_name,
    lane_rates,
)
from lessregret.learners.outcomes import Outcomes
from lessregret.learners.penalty import check_penalty
from lessregret.learners.rules import Coin, ExampleStats, Rule, Step
from lessregret.learners.scale import AnyScales, Scales
from lessregret.learners.stack import Stack
from lessregret.learners.standard import StandardScales
from lessregret.ledger import (
    Certificate,
    Lane,
    Ledger,
    Norms,
    Outcome,
    SlotSummary,
    StackOfLanes,
    Tally,
)


class CsrRows(Protocol):
    """The rows of a sparse matrix: :class:`lessregret.data.examples.Rows`."""

    indptr: NDArray[Any]
    indices: NDArray[Any]
    values: NDArray[Any]
    labels: NDArray[np.float64] | None
    importances: NDArray[np.float64] | None
    bases: NDArray[np.float64] | None


class ReadableLearner:
    """The :class:`lessregret.Learner` in plain Python: slow, easy to read, and open to new rules.

    It predicts each example before it learns from it.

    Parameters
    ----------
    loss : str or Loss
        The loss to minimise.
    rule : Rule
        The update rule, a one-dimensional online algorithm that runs on every coordinate (Lemma 2).
    certify : bool, optional
        Whether to keep the sum of gradients of each slot, for the certificate. The default is True
        at rate "auto" and False otherwise.
    boxes : dict of slot to (low, high), optional
        The smallest and the largest weight of slots for which the interval of the rule does not
        hold.
    intercept : int, optional
        The slot of the intercept. ``learn`` and ``predict`` add a feature of value 1 in this slot
        to every row.
    l2, l2_scope, scale, importance_aware, fixed_share
        The parameters of :class:`lessregret.Learner`, with the same meanings.

    >>> from lessregret.learners.rules import PerCoordinate
    >>> learner = ReadableLearner("hinge", PerCoordinate(rate=0.5), scale="cap")
    >>> learner.play([0, 3], [1.0, 2.0], label=1).loss
    1.0
    >>> learner.margin([0, 3], [1.0, 2.0])
    1.0
    """

    def __init__(
        self,
        loss: str | Loss,
        rule: Rule,
        *,
        certify: bool | None = None,
        boxes: dict[int, tuple[float, float]] | None = None,
        intercept: int | None = None,
        l2: float = 0.0,
        l2_scope: str = "active",
        scale: str = "standard",
        importance_aware: bool | None = None,
        fixed_share: float | None = None,
    ) -> None:
        self.loss = loss_named(loss) if isinstance(loss, str) else loss
        self.rule = rule
        check_match(self.loss, rule)
        check_penalty(rule, l2, l2_scope)
        if importance_aware is None:
            importance_aware = default_importance_aware(self.loss, rule, l2)
        if importance_aware:
            check_importance_aware(self.loss, rule, l2)
        fixed_share = default_share(rule) if fixed_share is None else fixed_share
        check_fixed_share(fixed_share, rule)
        if boxes and isinf(rule.width):
            raise SpecError(f"rule {rule.name!r} has no feasible set, so it cannot be given a box")
        self.slots: dict[int, Any] = {}
        unit = rule.unit_values
        standard = scale == "standard"
        self.scales: AnyScales = (
            StandardScales(intercept, unit=unit) if standard else Scales(scale, unit=unit)
        )
        self.keeps_zeros = scale == "standard"
        self.labels = labels_of(self.loss, scale)
        self.shared = rule.no_shared
        self.step = Step()
        certify = default_certify(rule) if certify is None else certify
        self.gradient_sums: dict[int, float] | None = {} if certify else None
        self.seen: tuple[Sequence[int], Sequence[float]] = ((), ())
        """the features of the last round, as they were played"""
        self.tally = Tally(standardised_loss=self.labels.no_loss)
        self.intercept = intercept
        self.l2 = float(l2)
        self.l2_scope = l2_scope
        self.importance_aware = bool(importance_aware)
        self._rules = {slot: rule.within(*box) for slot, box in (boxes or {}).items()}
        self.mixture = Mixture(self.loss, fixed_share=float(fixed_share))
        self.stack = Stack(self.loss, lanes=LANES)
        self.stack_tally = StackOfLanes(share=0.0, loss=0.0)
        self.lanes: list[ReadableLearner] = []
        if getattr(rule, "rate", None) == "auto":
            lane = partial(
                ReadableLearner,
                self.loss,
                certify=False,
                boxes=boxes,
                intercept=intercept,
                l2=l2,
                l2_scope=l2_scope,
                scale=scale,
                importance_aware=importance_aware,
            )
            for rate in lane_rates(rule):
                if rate is None:
                    self.lanes.append(lane(rule=Coin(), boxes=None, importance_aware=False))
                else:
                    self.lanes.append(lane(rule=replace(rule, rate=rate)))  # type: ignore[call-arg]
            self.scales = self.lanes[0].scales
            for each in self.lanes:
                # The labels that they get are standardised, where labels are.
                each.labels, each.tally = LabelsAsGiven(), Tally()
        self.lane_losses = [0.0] * len(self.lanes)

    def margin(self, slots: Sequence[int], values: Sequence[float], base: float = 0.0) -> float:
        """The margin b + Σ_i weight_i · value_i of scaled values, in the units of the labels."""
        if base and self.labels.takes_base:
            return base + self.margin(slots, values)
        if self.lanes:
            margins = [lane.margin(slots, values, base) for lane in self.lanes]
            stacked = self._stacked(margins, base)
            return self.mixture.margin(list(map(self.labels.prediction, stacked)))
        return self.labels.prediction(base + self._margin(*self.scales.seen(slots, values)))

    def play(
        self,
        slots: Sequence[int],
        values: Sequence[float],
        label: float,
        importance: float = 1.0,
        base: float = 0.0,
    ) -> Outcome:
        """Play one round: predict the example, compute the loss, update the slots."""
        if base and self.labels.takes_base:
            outcome = self.play(slots, values, label - base, importance)
            return outcome._replace(margin=base + outcome.margin)
        if self.lanes:
            return self._learn_lanes(slots, values, label, importance, base)
        features = len(slots)
        slots, seen = self.scales.played(slots, values)
        if self.l2 and self.l2_scope == "all":
            slots, seen = self._with_absent(slots, seen)
        self.seen = slots, seen
        learned = self.labels.learned(label, importance)
        stats = self._stats(slots, seen, learned, importance, base)
        if self.importance_aware:
            energy = self._follow(slots, seen, stats)
        else:
            energy, _ = self._absorb(slots, seen, stats)
        margin = self.labels.prediction(stats.margin)
        outcome = Outcome(
            margin=margin,
            loss=self._loss_in_units.value(margin, label),
            mistake=self.loss.is_mistake(margin, label),
            importance=importance,
            penalty=self.l2 / 2 * stats.square_weights,
            played=stats.played,
            energy=energy,
            features=features,
            standardised_loss=self.labels.loss(self.loss, stats.margin, learned),
        )
        self.tally.record(outcome)
        self.labels.remember(label, importance)
        return outcome

    def learn(self, examples: CsrRows) -> Outcomes:
        """Train on the rows of a matrix. Each row is predicted before it is learned from."""
        if examples.labels is None:
            raise SpecError("rows without labels cannot be learned from; give labels, or predict")
        y, rows = examples.labels, self._rows(examples)
        h = np.ones(len(y)) if examples.importances is None else examples.importances
        b = _bases(examples)
        margins = [self.play(*row, y[k], h[k], b[k]).margin for k, row in enumerate(rows)]
        return _outcomes(margins, examples)

    def predict(self, examples: CsrRows) -> Outcomes:
        """Predict the rows of a matrix without learning from them."""
        rows = zip(self._rows(examples), _bases(examples), strict=True)
        return _outcomes([self.margin(*row, base) for row, base in rows], examples)

    def explain(self, examples: CsrRows) -> list[Explanation]:
        """What each feature gives to the predictions of the rows, which is not learned from."""
        rows = zip(self._rows(examples), _bases(examples), strict=True)
        return [self._explained(*row, base) for row, base in rows]

    def _explained(self, slots: Sequence[int], values: Sequence[float], base: float) -> Explanation:
        within = 0.0 if self.labels.takes_base else base
        parts, clipping = (
            self._lane_parts(slots, values, within) if self.lanes else self._parts(slots, values)
        )
        seen = dict(zip(*self.scales.seen(slots, values), strict=True))
        features = (
            (i, value, seen.get(i, 0.0), self.labels.weight(parts.get(i, 0.0), False))
            for i, value in zip(slots, values, strict=True)
        )
        found = Features(features, base, self.labels.mean, clipping)
        margin = self.margin(slots, values, base)
        return explanation(margin, found, lambda slot: None, self.intercept)

    def _parts(
        self, slots: Sequence[int], values: Sequence[float]
    ) -> tuple[dict[int, float], float]:
        """w_i x̂_i of every feature that is seen, and what clipping adds to the prediction."""
        seen = zip(*self.scales.seen(slots, values), strict=True)
        parts = {i: self.scaled_weight(i, x) * x for i, x in seen}
        margin = sum(parts.values())
        return parts, self.labels.prediction(margin) - self.labels.unclipped(margin)

    def _lane_parts(
        self, slots: Sequence[int], values: Sequence[float], base: float
    ) -> tuple[dict[int, float], float]:
        """Σ_k a_k c_i,k of every feature that is seen, and what clipping adds."""
        margins = [lane.margin(slots, values, base) for lane in self.lanes]
        experts = self._stacked(margins, base)
        plays = list(map(self.labels.prediction, experts))
        (*factors, of_stack), outside = self.mixture.split(plays, base)
        shares = zip(self.mixture.shares(), plays, map(self.labels.unclipped, experts), strict=True)
        outside += sum(share * (near - far) for share, near, far in shares)
        parts: dict[int, float] = {}
        for lane, own, stacked in zip(self.lanes, factors, self.stack.weights, strict=True):
            for i, part in lane._parts(slots, values)[0].items():
                parts[i] = parts.get(i, 0.0) + (own + of_stack * stacked) * part
        beyond = of_stack * self.stack.added_by_clipping(margins, base)
        return parts, outside + self.labels.weight(beyond, False)

    def weight(self, slot: int, value: float = 1.0) -> float:
        """The current weight of a slot, for unscaled values, in the units of the labels."""
        raw = self.scales.unscaled(slot, lambda slot: self.scaled_weight(slot, value))
        return self.labels.weight(raw, slot == self.intercept)

    def scaled_weight(self, slot: int, value: float = 1.0) -> float:
        """The current weight of a slot, for scaled values; with lanes, that of the best lane."""
        if self.lanes:
            best = self.mixture.best_of(LANES - self.rule.coin_lane)
            return self.lanes[best].scaled_weight(slot, value)
        return self.rule_at(slot).weight(self.slot(slot), value)

    def slot(self, slot: int) -> Any:
        """The state of a coordinate; the empty slot of the rule if it was never updated."""
        return self.slots.get(slot, self.rule.empty)

    def rule_at(self, slot: int) -> Rule:
        """The rule of this coordinate, with the interval of the coordinate."""
        return self._rules.get(slot, self.rule)

    def summary(self) -> SlotSummary:
        """The parts of the bound and of the linearised regret that depend on the slots."""
        if self.lanes:
            return self._summary_of_lanes()
        proved = (
            not self.importance_aware
            and not isinf(self.rule.width)
            and self.rule.is_proved(self.shared)
        )
        touched = {i: slot for i, slot in self.slots.items() if any(slot)}
        spreads = [self.rule_at(i).spread(slot, self.step) for i, slot in touched.items()]
        theorems = [self.rule_at(i).theorem(slot) for i, slot in touched.items()]
        theorems.append(self.rule.shared_theorem(self.shared))
        shared = self.rule.shared_spread(self.shared)
        known = [term for term in theorems if term is not None]
        return SlotSummary(
            spread=_sum_or_none(spreads, shared) if proved else None,
            floor=self._floor(),
            theorem=sum(known) if known and not self.importance_aware else None,
            touched=len(touched),
        )

    def ledger(self) -> Ledger:
        """The losses and the regret so far."""
        is_classification = self.loss.is_classification
        certificate = self._certificate()
        sums, units = (replace(self.tally), self.summary()), self.loss.units
        return Ledger(*sums, is_classification, 0, certificate, units)

    def _certificate(self) -> Certificate | None:
        """What the rounds so far certify of all fixed weights; None unless certified."""
        if self.gradient_sums is None:
            return None
        sums = sorted(self.gradient_sums.items())
        features = [i for i, _ in sums if i != self.intercept]
        # The mixture of the lanes plays no point, so its penalty has no part in the tangents.
        penalty = 0.0 if self.lanes else self.tally.penalty
        intercept = self.intercept if self.intercept in self.gradient_sums else None
        learned = self._lane_that_lost_least()
        return Certificate(
            offset=self.tally.game_loss + penalty - self.tally.played,
            sums=Norms.of([self.gradient_sums[i] for i in features]),
            weights=Norms.of([learned.scaled_weight(i) for i in features]),
            intercept_sum=0.0 if intercept is None else self.gradient_sums[intercept],
            intercept_weight=0.0 if intercept is None else learned.scaled_weight(intercept),
            vector=lambda: (
                np.array([i for i, _ in sums], np.uint32),
                np.array([g for _, g in sums]),
            ),
        )

    def _lane_that_lost_least(self) -> ReadableLearner:
        """The lane with a rate whose total is least, in its game; without lanes, this learner."""
        rated = self.lanes[: LANES - self.rule.coin_lane]
        return min(rated, key=lambda lane: lane.tally.loss + lane.tally.penalty, default=self)

    def _learn_lanes(
        self,
        slots: Sequence[int],
        values: Sequence[float],
        label: float,
        importance: float,
        base: float,
    ) -> Outcome:
        """Every lane plays and absorbs for itself; their mixture is what is played."""
        learned = self.labels.learned(label, importance)
        played = [lane.play(slots, values, learned, importance, base) for lane in self.lanes]
        margins = [outcome.margin for outcome in played]
        penalties = [outcome.penalty for outcome in played]
        stacked, penalties = (
            self._stacked(margins, base),
            [*penalties, self.stack.penalty(penalties)],
        )
        plays = list(map(self.labels.prediction, stacked))
        margin, penalty = self.mixture.margin(plays), self.mixture.penalty(penalties)
        in_units = self._loss_in_units
        loss, mistake = in_units.value(margin, label), self.loss.is_mistake(margin, label)
        mixed = self._mixed(margin, stacked)
        own = self.labels.loss(self.loss, mixed, learned)
        slope = importance * self.loss.slope(mixed, learned)
        tangent = self._take_tangent(slope, mixed - base)
        outcome = Outcome(margin, loss, mistake, importance, penalty, tangent, 0.0, len(slots), own)
        for k, each in enumerate(margins):
            lost = in_units.value(self.labels.prediction(each), label)
            self.lane_losses[k] += importance * lost
        stack_loss = in_units.value(self.labels.prediction(stacked[-1]), label)
        self._record_stack(importance, stack_loss, penalties[-1])
        shared = [self.labels.unit**self.loss.degree * each for each in penalties]
        self.mixture.loss = in_units
        self.mixture.absorb(plays, label, importance, shared)
        self.stack.absorb(margins, learned, importance, base)
        self.tally.record(outcome)
        self.labels.remember(label, importance)
        return outcome

    @property
    def _loss_in_units(self) -> Loss:
        """The loss of predictions and labels in the user's units."""
        return self.loss.in_units(self.labels.unit)

    def _take_tangent(self, slope: float, margin: float) -> float:
        """Add α x to the gradient sums, with the slope α of the mixture; α w·x, if certified."""
        if self.gradient_sums is None:
            return 0.0
        for i, value in zip(*self.lanes[0].seen, strict=True):
            self.gradient_sums[i] = self.gradient_sums.get(i, 0.0) + slope * value
        return slope * margin

    def _mixed(self, prediction: float, margins: list[float]) -> float:
        """The margin of what the mixture predicts; where all predict the same, its mean margin."""
        mixed = self.labels.margin(prediction)
        pairs = zip(self.mixture.shares(), margins, strict=True)
        return sum(share * each for share, each in pairs) if mixed is None else mixed

    def _stacked(self, margins: list[float], base: float) -> list[float]:
        """The margins of all experts: the lanes, and the stack on top of them."""
        return [*margins, self.stack.margin(margins, base)]

    def _record_stack(self, importance: float, loss: float, penalty: float) -> None:
        _, losses, penalties = self.stack_tally
        sums = losses + importance * loss, penalties + importance * penalty
        self.stack_tally = StackOfLanes(0.0, *sums)

    def _summary_of_lanes(self) -> SlotSummary:
        *shares, share_of_stack = self.mixture.shares()
        lanes = []
        standardised = self.tally.standardised_loss is not None
        played = zip(lane_rates(self.rule), shares, self.lanes, self.lane_losses, strict=True)
        for rate, share, lane, loss in played:
            summary, tally = lane.summary(), lane.tally
            sums, own = (loss, tally.played, tally.energy), tally.loss if standardised else None
            # The coin's game is on other values: its bound is not one of the game of the lanes.
            spread = None if rate is None else summary.spread
            lanes.append(Lane(lane_name(rate), rate, share, *sums, spread, tally.penalty, own))
        touched = {i for lane in self.lanes for i, slot in lane.slots.items() if any(slot)}
        stack = self.stack_tally._replace(share=share_of_stack)
        cost = self.mixture.cost
        return SlotSummary(None, self._floor(), None, len(touched), cost, tuple(lanes), stack)

    def _rows(self, examples: CsrRows) -> list[tuple[list[int], list[float]]]:
        """The rows as lists of slots and values: repeats added up; zeros left out, if not kept."""
        starts, columns, entries = examples.indptr, examples.indices, examples.values
        rows = []
        for start, end in pairwise(starts.tolist()):
            row: dict[int, float] = {}
            for column, entry in zip(columns[start:end], entries[start:end], strict=True):
                row[int(column)] = row.get(int(column), 0.0) + float(entry)
            if self.intercept is not None:
                row[self.intercept] = 1.0
            kept = {i: value for i, value in row.items() if value != 0 or self.keeps_zeros}
            rows.append((list(kept), list(kept.values())))
        return rows

    def _with_absent(
        self, slots: Sequence[int], values: Sequence[float]
    ) -> tuple[Sequence[int], Sequence[float]]:
        """The example with the touched coordinates that it lacks, at value 0."""
        absent = sorted(i for i, slot in self.slots.items() if any(slot) and i not in slots)
        return [*slots, *absent], [*values, *(0.0 for _ in absent)]

    def _margin(self, slots: Sequence[int], seen: Sequence[float]) -> float:
        played = map(self.scaled_weight, slots, seen)
        return sum((weight * x for weight, x in zip(played, seen, strict=True)), start=0.0)

    def _stats(
        self,
        slots: Sequence[int],
        values: Sequence[float],
        label: float,
        importance: float,
        base: float,
    ) -> ExampleStats:
        """What the example shows when it is played; coupled rules add to it."""
        margin = base + self._margin(slots, values)
        played = map(self.scaled_weight, slots, values) if self.l2 else ()
        return ExampleStats(
            round=self.tally.rounds + 1,
            regression=not self.loss.is_classification,
            label=label,
            margin=margin,
            importance=importance,
            slope=importance * self.loss.slope(margin, label),
            square_norm=sum(value**2 for value in values),
            shrink=importance * self.l2,
            square_weights=sum(weight**2 for weight in played),
            base=base,
        )

    def _absorb(
        self, slots: Sequence[int], values: Sequence[float], stats: ExampleStats
    ) -> tuple[float, list[float]]:
        """Let every coordinate absorb its gradient: ½ Σ g² η, and the rates η."""
        if self.rule.coupled:
            for i, value in zip(slots, values, strict=True):
                self.rule_at(i).look(self.slot(i), value, stats)
            self.shared, self.step = self.rule.step(self.shared, stats)
        energy, rates = 0.0, []
        for i, value in zip(slots, values, strict=True):
            rule, gradient = self.rule_at(i), stats.slope * value
            if self.l2:
                gradient += stats.shrink * rule.weight(self.slot(i), value)
            if gradient == 0 and not rule.coupled:
                rates.append(0.0)
                continue
            self.slots[i], rate = rule.absorb(self.slot(i), value, gradient, self.step)
            rates.append(rate)
            energy += gradient**2 * rate
            if self.gradient_sums is not None:
                self.gradient_sums[i] = self.gradient_sums.get(i, 0.0) + gradient
        # Not before: the regulariser acts on the weights that were played.
        self.rule = self.rule.knowing(self.shared)
        self._rules = {i: rule.knowing(self.shared) for i, rule in self._rules.items()}
        return energy / 2, rates

    def _follow(self, slots: Sequence[int], values: Sequence[float], stats: ExampleStats) -> float:
        """Absorb, which fixes the rates; then weights go as far as the importance leads them."""
        played = list(map(self.scaled_weight, slots, values))
        _, rates = self._absorb(slots, values, stats)
        if stats.slope == 0:
            return 0.0
        response = sum(rate * x**2 for rate, x in zip(rates, values, strict=True))
        u = push(self.loss, stats.margin, stats.label, stats.importance, response)
        for i, x, rate, weight in zip(slots, values, rates, played, strict=True):
            if rate:
                place = self.rule_at(i).clip(weight + u * rate * x)
                self.slots[i] = self.slot(i)._replace(weight=place)
        return 0.0

    def _floor(self) -> float | None:
        """Σ_i min(a_i G_i, b_i G_i); None without a feasible set."""
        if self.gradient_sums is None or isinf(self.rule.width):
            return None
        rules = {i: self.rule_at(i) for i in self.gradient_sums}
        return sum(
            min(rules[i].low * total, rules[i].high * total)
            for i, total in self.gradient_sums.items()
        )


def check_match(loss: Loss, rule: Rule) -> None:
    """Raise a :class:`SpecError` for a rule that cannot learn from this loss."""
    if not loss.is_classification and not rule.regresses:
        raise SpecError(
            f"rule {rule.name!r} learns from labels -1 and 1; "
            "use hinge or logistic loss, or another rule"
        )
    if not rule.learns_from(loss.labels):
        raise SpecError(
            f"rule {rule.name!r} moves predictions to labels, and a count is predicted by e to the "
            "margin; use another rule or loss"
        )


def _sum_or_none(terms: list[float | None], start: float) -> float | None:
    if any(term is None for term in terms):
        return None
    return sum((term for term in terms if term is not None), start=start)


@dataclass
class _Arrays:
    margins: NDArray[np.float64]
    labels: NDArray[np.float32]
    importances: NDArray[np.float32]
    tags: list[bytes]
    classes: int | None = None

    def __len__(self) -> int:
        return len(self.labels)

    def label_sums(self) -> tuple[float, float, float]:
        y, h = self.labels.astype(np.float64), self.importances.astype(np.float64)
        mean = float(h @ y / h.sum()) if h.any() else 0.0
        return float(h.sum()), mean, float(h @ (y - mean) ** 2)


def _bases(examples: CsrRows) -> NDArray[np.float64]:
    """The base margin of every row, 0 where none are given."""
    rows = len(examples.indptr) - 1
    return np.zeros(rows) if examples.bases is None else examples.bases


def _outcomes(margins: list[float], examples: CsrRows) -> Outcomes:
    def column(given: NDArray[np.float64] | None, missing: float) -> NDArray[np.float32]:
        return np.asarray(np.full(len(margins), missing) if given is None else given, np.float32)

    labels, importances = column(examples.labels, np.nan), column(examples.importances, 1.0)
    tags = [b""] * len(margins)
    return Outcomes(_Arrays(np.array(margins, np.float64), labels, importances, tags))
