"""Warnings of a run that went badly, each with a cure. They are computed once, at its end.

    constant   the later part of the run lost more than its best constant prediction in hindsight
    labels     the same, and the labels of a regression are larger than a weight can be
    table      more than 5 % of the features share a slot of the hash table with another feature
    grid       the lane with the lowest or the highest rate is the best expert, and one more step of
               the grid would gain much

All of them are about runs of at least 1,000 examples. No learner knows the best constant before
these rounds, so each loses more than it, at best about ½ ln T with log loss and √T with hinge loss
in T rounds. These are half a percent and 3 % of the loss of a fair coin in 1,000 rounds. In a
shorter run they are a larger part, and a high loss says less.

Values and gradients beyond float32 need no warning: they raise an error when they are read or
learned from (``InputError``, ``DivergedError``), so that no value is cut in silence.
"""

from __future__ import annotations

from math import inf, log, sqrt
from typing import Any, NamedTuple

from lessregret.learners.fill import Fill
from lessregret.learners.losses import loss_named
from lessregret.learners.outcomes import LabelSums
from lessregret.ledger import Ledger
from lessregret.training.late_rounds import LatePart

LEAST_EXAMPLES = 1000
SLACK = 0.05
"""A loss that is at most 5 % above that of the best constant is not called worse.

The best constant in hindsight fits the chance in these labels, too. In a click log of 1,000
examples the default was 3 % above it, and from 1,500 examples on it was below.
"""
LEAST_GAIN = 0.1
"""The gain from which on another rate is advised.

Of 432 made-up problems 30 promised so much, and in 29 of them the advice lost less than the mixture
did. Of the 49 that promised 1 % to 10 % it lost less in 32.
"""


class RunWarning(UserWarning):
    """A run went badly. The message says what is wrong, and what to do."""


class Finding(NamedTuple):
    """What is wrong with a run, and what to do, on the command line and in Python.

    >>> finding = Finding("the loss is high", "use --scale standard", 'use scale="standard"')
    >>> finding.in_shell
    'the loss is high; use --scale standard'
    """

    found: str
    shell_cure: str
    python_cure: str

    @property
    def in_shell(self) -> str:
        """The message for the command line."""
        return f"{self.found}; {self.shell_cure}"

    @property
    def in_python(self) -> str:
        """The message of a :class:`RunWarning`."""
        return f"{self.found}; {self.python_cure}"


def run_warnings(
    spec: dict[str, Any], ledger: Ledger, late: LatePart, fill: Fill | None = None
) -> tuple[Finding, ...]:
    """What went badly in a run; empty for a good run.

    Parameters
    ----------
    spec : dict
        The settings of the learner: of ``Learner.spec`` the loss, the rule, the scale and whether
        there is an intercept.
    ledger : Ledger
        The ledger at the end.
    late : LatePart
        The later part of this run.
    fill : Fill, optional
        How full the hash table is, if there is one.
    """
    if late.of < LEAST_EXAMPLES:
        return ()
    shared, beyond = _shared_slots(fill), _above_constant(spec, late)
    findings = [beyond, _edge_of_grid(spec, ledger), shared]
    if beyond is not None and _out_of_reach(spec, late.labels):
        # The rates are not to blame: all of them fall short of such labels.
        findings = [_labels_out_of_reach(spec, late.labels), shared]
    return tuple(finding for finding in findings if finding is not None)


def constant_loss(loss: str, labels: LabelSums) -> float | None:
    """The mean loss of the best constant prediction; None for a loss that is not known here.

    >>> labels = LabelSums(importance=4.0, mean=0.5, squares=3.0)
    >>> [round(constant_loss(loss, labels), 4) for loss in ("logistic", "hinge", "squared")]
    [0.5623, 0.5, 0.75]
    """
    ones = (1 + labels.mean) / 2
    if loss == "logistic":
        return -sum(share * log(share) for share in (ones, 1 - ones) if share > 0)
    if loss == "hinge":
        # Between −1 and 1 the loss is linear in the prediction, so one end is the best.
        return 2 * min(ones, 1 - ones)
    # The least of q(1 − p)² + (1 − q)(1 + p)² is the variance of labels ±1, too.
    return labels.variance if loss in ("squared", "squared-hinge") else None


def _shared_slots(fill: Fill | None) -> Finding | None:
    """Whether too many features share a slot, so that a larger table would separate them."""
    if fill is None or fill.shared is None or fill.enough_bits is None:
        return None
    kind = "at least " if fill.by_names else "about "
    found = (
        f"{kind}{fill.shared:.0%} of the features share a slot of the hash table with another one, "
        "and so a weight"
    )
    return Finding(found, f"use --bits {fill.enough_bits}", f"use bits={fill.enough_bits}")


def _above_constant(spec: dict[str, Any], late: LatePart) -> Finding | None:
    mean, importance = late.mean_loss, late.labels.importance
    constant = constant_loss(spec["loss"], late.labels)
    # Where all labels are one, the best constant loses nothing, and any learner is above it.
    if not constant or mean is None:
        return None
    if mean <= (1 + SLACK) * constant + _price(spec["loss"], importance) / importance:
        return None
    found = (
        f"the mean loss of the last {late.rounds:,} examples, {mean:.4g}, is above {constant:.4g}, "
        "that of the best constant prediction: the features do not help"
    )
    return Finding(found, *_cures(spec))


def _price(loss: str, importance: float) -> float:
    """What it costs in all not to know the best constant before the rounds; see above."""
    prices = {"logistic": log(max(1.0, importance)) / 2, "hinge": sqrt(importance)}
    # For squared loss it is about the variance times ln T, which the slack covers.
    return prices.get(loss, 0.0)


def _cures(spec: dict[str, Any]) -> tuple[str, str]:
    """The most likely cure, on the command line and in Python."""
    if not spec["intercept"]:
        return "leave out --no-intercept", "use intercept=True"
    if spec["scale"] == "none":
        return "leave out --scale none", 'use scale="standard"'
    if spec["rule"].get("rate") != "auto":
        told = "which has no rate to choose"
        return f"try --rule per-coordinate, {told}", f"try rule=PerCoordinate(), {told}"
    if spec["scale"] != "standard":
        told = "shuffle the examples if they are sorted by label, or"
        return f"{told} leave out --scale {spec['scale']}", f'{told} use scale="standard"'
    return ("shuffle the examples if they are sorted by label, or use fewer features",) * 2


def _out_of_reach(spec: dict[str, Any], labels: LabelSums) -> bool:
    """Whether labels are larger than the radius, so that one weight cannot reach them."""
    as_given = loss_named(spec["loss"]).labels == "real" and spec["scale"] != "standard"
    return as_given and labels.size > _radius(spec)


def _radius(spec: dict[str, Any]) -> float:
    rule = spec["rule"]
    return max(map(abs, rule["box"])) if rule.get("box") else rule.get("radius") or inf


def _labels_out_of_reach(spec: dict[str, Any], labels: LabelSums) -> Finding:
    found = (
        f"the labels have the root mean square {labels.size:.4g}, but no weight exceeds "
        f"{_radius(spec):g}: the mean loss is above that of the best constant prediction"
    )
    return Finding(found, f"leave out --scale {spec['scale']}", 'use scale="standard"')


def _edge_of_grid(spec: dict[str, Any], ledger: Ledger) -> Finding | None:
    """Whether the best expert is a lane at an end of the grid, and the next rate would gain.

    If the stack is better, it has made up for the grid: another rate alone would lose more.
    """
    grid = sorted((lane.rate, lane.loss) for lane in ledger.lanes if lane.rate is not None)
    if len(grid) < 3 or ledger.stack is None:
        return None
    least = min(ledger.stack.loss, *(lane.loss for lane in ledger.lanes))
    for edge, neighbour, third in (grid[:3], grid[:-4:-1]):
        gain = _gain(edge[1], neighbour[1], third[1])
        if edge[1] == least and gain > LEAST_GAIN * edge[1]:
            return _next_rate(spec, edge[0], neighbour[0])
    return None


def _gain(edge: float, neighbour: float, third: float) -> float:
    """How much less one more step of the grid would lose, if gains go on to shrink as they did.

    >>> _gain(4.0, 6.0, 10.0), _gain(4.0, 6.0, 7.0), _gain(5.0, 4.0, 6.0)
    (1.0, 2.0, 0.0)
    """
    last, before = neighbour - edge, third - neighbour
    if last <= 0:
        return 0.0
    return last * last / before if before > last else last


def _next_rate(spec: dict[str, Any], edge: float, neighbour: float) -> Finding:
    """The advice to go one step of the grid beyond its edge, with all other parameters kept."""
    lower = edge < neighbour
    found = (
        f"the lane at the {'lowest' if lower else 'highest'} rate, {edge:g}, is the best: a "
        f"{'lower' if lower else 'higher'} rate may lose less"
    )
    parameters = {"rate": edge**2 / neighbour}
    if "offset" in spec["rule"]:
        # Left out, the offset of a rule whose rate is given could be another one.
        parameters["offset"] = spec["rule"]["offset"]
    given, rule = [f"{name}={value:g}" for name, value in parameters.items()], spec["rule"]["name"]
    in_shell, in_python = ":".join([rule, *given]), f"{rule!r} with {' and '.join(given)}"
    return Finding(found, f"try --rule {in_shell}", f"try the rule {in_python}")
