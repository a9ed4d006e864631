"""The window: about the last tenth of a run, with a certificate of its own.

The certificate of a run is a difference of sums, so any two rounds have one between them. Marks of
the sums are kept at rounds that grow by the factor 2^(1/8), and only the last two are held: at the
end the older one is 8 to 17 % of the run back. The first mark is at round 512, because shorter runs
have no window.

A mark copies 8 bytes for each slot in use. In a run of 500,000 examples with 107,000 slots all
marks took 3 ms together, a thousandth of the run. But two marks are 16 bytes a slot, twice what a
learner with one rate needs, so only recorded runs keep them.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from lessregret.learners.learner import Learner
from lessregret.ledger import Certificate, Ledger, Statement, Tally
from lessregret.training.run_warnings import LEAST_EXAMPLES, Finding

if TYPE_CHECKING:
    from lessregret import _core

STEPS = 8
"""marks for each doubling of the rounds"""
FIRST = 512
LEAST_LEFT = 0.1
"""A window with a smaller part of its loss open never stands out, whatever the run has open."""


class Window(NamedTuple):
    """What is certified of the last rounds alone.

    >>> run = Statement(shape="ball", radius=5.0, intercept=1.0, lost=0.4, certified=0.39)
    >>> window = Window(1000, run._replace(certified=0.3), run, open=100.0, open_of_run=90.0)
    >>> window.stands_out
    True
    """

    rounds: int
    statement: Statement
    """the losses of these rounds, for fixed weights as large as those learned at the end"""
    run: Statement
    """the same of the whole run, earlier ones of a resumed model included"""
    open: float
    """the loss of these rounds, in all, minus the lower bound, also where that is below 0"""
    open_of_run: float
    """the same of the whole run"""

    @property
    def stands_out(self) -> bool:
        """Whether more loss is open in the last rounds alone than in the whole run.

        The tangents of all rounds can cancel each other, so this can be. In data that do not change
        it is rare, because fixed weights that would save much at the end would do so before, too:
        of 256 runs on such made-up data 2 had it. Of 256 runs on data with the weights turned round
        for the last tenth 147 had it. Data that had changed long before, or change slowly, seldom
        have it.
        """
        return self.run.speaks and self.statement.left > LEAST_LEFT and self.open > self.open_of_run

    def as_dict(self) -> dict[str, Any]:
        """All numbers, for JSON."""
        return {
            "rounds": self.rounds,
            **self.statement.as_dict(),
            "open": self.open,
            "open_of_run": self.open_of_run,
            "stands_out": self.stands_out,
        }


def next_mark(before: int, rounds: int) -> int:
    """The first round to be marked after ``rounds``; the ``before`` rounds of earlier runs count.

    >>> next_mark(0, 0), next_mark(0, 1000), next_mark(7, 1007)
    (512, 1024, 1031)
    """
    own = max(rounds - before, FIRST - 1)
    powers = count(STEPS * (own.bit_length() - 1))
    return before + next(mark for k in powers if (mark := int(2 ** (k / STEPS))) > own)


class WindowMarks:
    """Holds the last two marks of a run; ``before`` are the rounds of earlier runs.

    >>> WindowMarks(0).next_mark(0), WindowMarks(0).next_mark(1000), WindowMarks(7).next_mark(1007)
    (512, 1024, 1031)
    """

    def __init__(self, before: int = 0) -> None:
        self._before = before
        self._marks: list[tuple[Tally, _core.SumsMark]] = []

    def next_mark(self, rounds: int) -> int:
        """The round after which :meth:`note` wants to be called next."""
        return next_mark(self._before, rounds)

    def note(self, learner: Learner) -> None:
        """Copy the sums if this is a round to be marked; a round is marked once."""
        tally = learner.tally()
        if self.next_mark(tally.rounds - 1) != tally.rounds:
            return
        sums = learner.mark_sums()
        if sums is not None and (not self._marks or self._marks[-1][0].rounds < tally.rounds):
            self._marks = [*self._marks[-1:], (tally, sums)]

    def window(self, learner: Learner, ledger: Ledger) -> Window | None:
        """The window at the end of a run; None for short runs and unless certified."""
        run = ledger.statement
        if ledger.rounds - self._before < LEAST_EXAMPLES or run is None or len(self._marks) < 2:
            return None
        start, sums = self._marks[0]
        certificate = learner.certificate_since(sums)
        importance = ledger.tally.importance - start.importance
        lost = ledger.total - start.game_loss - start.penalty
        if certificate is None or not (importance > 0 and lost > 0):
            return None
        certified = min(lost, certificate.least(run.radius, run.shape))
        statement = run._replace(lost=lost / importance, certified=certified / importance)
        open_of_run = (run.lost - run.certified) * ledger.tally.importance
        rounds = ledger.rounds - start.rounds
        return Window(rounds, statement, run, _open(certificate, lost), open_of_run)


def _open(certificate: Certificate, lost: float) -> float:
    """The part of a loss that is not certified for weights of the learned size."""
    limit = abs(certificate.intercept_weight * certificate.intercept_sum)
    reach = certificate.size("ball") * certificate.sums.dual("ball")
    return max(0.0, lost - certificate.offset + limit + reach)


def window_finding(spec: dict[str, Any], window: Window) -> Finding | None:
    """What a window that stands out may mean, and what to do; None for any other.

    What is certified is a lower bound, so what is open can be gained at most, and need not be.
    """
    if not window.stands_out:
        return None
    found = (
        f"on the last {window.rounds:,} examples alone more loss is open than on all of them: "
        "fixed weights for these examples may lose much less than the run did, a sign that the "
        "data changed"
    )
    recent = "or train on the recent examples alone"
    in_shell, in_python = _cures_of_drift(spec)
    return Finding(found, f"{in_shell}, {recent}", f"{in_python}, {recent}")


def _cures_of_drift(spec: dict[str, Any]) -> tuple[str, str]:
    """On data whose weights turned round, ten times the share lost up to 5 % less at the end."""
    if spec["rule"].get("rate") != "auto":
        mixes = "which mixes several rates"
        return f"try --rule per-coordinate, {mixes}", f"try rule=PerCoordinate(), {mixes}"
    share = min(0.1, 10 * (spec["fixed_share"] or 0.0001))
    return f"try --fixed-share {share:g}", f"try fixed_share={share:g}"
