"""The mixture of the experts: no rate to tune, and the price of that known.

The experts are the lanes, of which lane k runs the rule at the rate 0.0125 · 3^k and the last
one plays the coin (eight rates 0.0125 · 2.5^k for rules other than per-coordinate), and the
stack (:mod:`lessregret.learners.stack`): K = 9. Expert k has lost L_k so far. With the shares
π_k ∝ exp(−η L_k) the mixture plays

    logistic   logit of Σ π_k σ(m_k)   η = 1/H
    squared    Σ π_k clip(m_k, A, B)   η = max(1/(2H (B − A)²), ln K/Δ)
    others     Σ π_k m_k               η = ln K/Δ, AdaHedge

with H = max(1, importances so far) and [A, B] the range of the labels so far.

η never rises, so for every sequence (de Rooij, van Erven, Grünwald & Koolen 2014; decision 17)

    L_mix ≤ min_k L_k + ln K/η + Δ,   Δ = Σ_t δ_t,
    δ_t = loss_t + (1/η_t) ln Σ_k π_k exp(−η_t loss_t,k)

Logistic loss is 1-mixable: with importances up to 1, δ ≤ 0 and all the mixing costs at most ln K.
For the others Δ is the sum of max(0, δ_t). Squared loss is 1/(2(B − A)²)-exp-concave: δ ≤ 0 once η
is that small, unless a label is outside [A, B] or an importance above H, so Δ stops at about
2(B − A)² ln K, and it is often far smaller. For hinge the cost is 2Δ, of order √(L* ln K). Δ is
measured during the run, so the bound on the cost holds for every sequence of examples.

For squared loss the L_k above are those of the clipped predictions. Clipping brings a prediction
closer to every label in [A, B], so only a label outside can make the clipped loss the larger one.
To hold for the L_k of the predictions as they are, the cost has one more term,

    C = Σ_t max_k max(0, h (clipped loss_t,k − loss_t,k))

Importances multiply losses: log loss counted h times is only 1/h-mixable, hence H. A loss of the
user's own is mixed as hinge is, which asks for nothing but convexity.

With a fixed share a > 0 (Herbster & Warmuth 1998), for a best expert that changes, every round ends
with π ← (1 − a) π + a/K, and L_k becomes −(1/η_t) ln π_k, the losses that give these shares. Then
(decision 18)

    L_mix ≤ min_k L_k + ln K/η + Δ + A,   A = Σ_t (1/η_t) ln 1/(1 − a + a/K)

and against experts that take turns, each change costs ln(K/a)/η more.

The twin of ``crates/core/src/learn/lanes/mixture/``, which keeps π in place of L_k where a > 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import exp, inf, log, log1p
from typing import Any

from lessregret.errors import SpecError
from lessregret.learners.explanation import log_odds_factors
from lessregret.learners.losses import Loss
from lessregret.learners.rules import Rule
from lessregret.learners.rules.limits import is_within

LEFT_OUT = ("standing", "labels", "held")
"""What a model file holds of a mixture beside plain sums."""
LEAST_RATE = 0.0125
LANES = 8
RATES = tuple(LEAST_RATE * 3**k for k in range(LANES - 1))
"""The rates of the lanes of a rule with a coin lane, from 0.0125 to 9.1."""
EIGHT_RATES = tuple(LEAST_RATE * 2.5**k for k in range(LANES))
"""The rates of the lanes of the other rules, from 0.0125 to 7.6."""
EXPERTS = LANES + 1
"""K: the lanes, and the stack as the last expert."""
LOG_EXPERTS = log(EXPERTS)
NO_PENALTIES = (0.0,) * EXPERTS
ROUNDING = 1e-12
"""The part of a loss up to which a gap counts as 0: it would make an infinite η finite."""
TINY = 2.0**-1022
"""The least share that has a logarithm worth keeping."""


FIXED_SHARE = "a number from 0 up and below 1"
DEFAULT_SHARE = 1e-4
"""0.1 to 10 times as much lose the same on 60 data sets, within half a percent (decision 27)."""


def lane_rates(rule: Rule | type[Rule]) -> tuple[float | None, ...]:
    """The rates of the lanes of a rule at rate "auto"; None for the lane that plays the coin."""
    return (*RATES, None) if rule.coin_lane else EIGHT_RATES


def lane_name(rate: float | None) -> str:
    """What texts call the lane with this rate.

    >>> lane_name(RATES[1]), lane_name(None)
    ('rate 0.0375', 'coin')
    """
    return "coin" if rate is None else f"rate {rate:g}"


def is_fixed_share(fixed_share: Any) -> bool:
    """Whether this can be a fixed share.

    >>> is_fixed_share(0), is_fixed_share(0.01), is_fixed_share(1), is_fixed_share("0.1")
    (True, True, False, False)
    """
    return is_within(fixed_share, None, 0) and float(fixed_share) < 1


def default_share(rule: Rule) -> float:
    """The fixed share of a learner for which none is given."""
    return DEFAULT_SHARE if getattr(rule, "rate", None) == "auto" else 0.0


def default_certify(rule: Rule) -> bool:
    """Whether a learner with this rule keeps the sums of the certificate, if nobody says.

    With lanes they take little time beside the lanes. With one rate they would be one more cache
    miss for each feature.
    """
    return getattr(rule, "rate", None) == "auto"


def check_share(fixed_share: Any) -> None:
    """Raise a :class:`SpecError` unless this can be a fixed share."""
    if not is_fixed_share(fixed_share):
        raise SpecError(f"fixed_share must be {FIXED_SHARE}, found {fixed_share!r}")


def check_fixed_share(fixed_share: Any, rule: Rule) -> None:
    """Raise a :class:`SpecError` unless a learner with this rule can have this fixed share."""
    check_share(fixed_share)
    if fixed_share > 0 and getattr(rule, "rate", None) != "auto":
        raise SpecError(
            "fixed_share is a matter of lanes, which only rate 'auto' has; "
            "leave out fixed_share, or use rate 'auto'"
        )


@dataclass
class Mixture:
    """What the mixture remembers.

    >>> from lessregret.learners.losses import Logistic
    >>> mixture = Mixture(Logistic())
    >>> margins = [0, 0, 0, 0, 0, 0, 0, 0, 3.0]
    >>> round(mixture.margin(margins), 3)
    0.202
    >>> mixture.absorb(margins, label=1.0, importance=1.0)
    >>> round(mixture.shares()[8], 3), round(mixture.cost, 3)
    (0.192, 2.197)
    """

    loss: Loss
    losses: list[float] = field(default_factory=lambda: [0.0] * EXPERTS)
    """L_k, for squared loss of the clipped predictions; with a fixed share those that give π"""
    surplus: float = 0.0
    """Δ"""
    heaviest: float = 1.0
    """H"""
    labels: tuple[float, float] | None = None
    """[A, B], once there was a label; only for squared loss"""
    fixed_share: float = 0.0
    """a"""
    sharing: float = 0.0
    """A"""
    clipping: float = 0.0
    """C; only for squared loss"""

    @classmethod
    def restored(cls, loss: Loss, state: dict[str, Any]) -> Mixture:
        """The mixture of a model file, whose losses are given or those that give its shares."""
        losses, labels = _losses(state["standing"]), state["labels"]
        rest = {name: state[name] for name in state if name not in LEFT_OUT}
        return cls(loss, losses, labels=None if labels is None else tuple(labels), **rest)

    @property
    def cost(self) -> float:
        """ln K/η + Δ + A + C: what mixing has cost at most, against the best expert."""
        return LOG_EXPERTS / self.rate + self.surplus + self.sharing + self.clipping

    @property
    def best_lane(self) -> int:
        """The lane with the largest share, the first of them."""
        return self.best_of(LANES)

    def best_of(self, lanes: int) -> int:
        """Of so many first lanes the one with the largest share."""
        return self.losses.index(min(self.losses[:lanes]))

    @property
    def rate(self) -> float:
        """η of the next round."""
        if self.loss.mixing == "log-odds":
            return 1 / self.heaviest
        if self.loss.mixing == "clipped-mean":
            low, high = self.labels or (0.0, 0.0)
            return max(_inverse(2 * self.heaviest * (high - low) ** 2), self._rate_of_gap)
        return self._rate_of_gap

    @property
    def _rate_of_gap(self) -> float:
        return _inverse(self.surplus / LOG_EXPERTS)

    def shares(self) -> list[float]:
        """π."""
        return [exp(share) for share in self.log_shares()]

    def log_shares(self) -> list[float]:
        """ln π: a lane so far behind that its share is 0 may come back."""
        gaps = [_fall(self.rate, lost - min(self.losses)) for lost in self.losses]
        return [gap - _log_sum(gaps) for gap in gaps]

    def margin(self, margins: Sequence[float]) -> float:
        """The margin played."""
        if self.loss.mixing == "log-odds":
            yes = [-self.loss.value(margin, 1.0) for margin in margins]
            no = [-self.loss.value(margin, -1.0) for margin in margins]
            return self._log_mean(yes) - self._log_mean(no)
        pairs = zip(self.shares(), margins, strict=True)
        return sum(share * self._clip(margin) for share, margin in pairs)

    def split(self, margins: Sequence[float], base: float = 0.0) -> tuple[list[float], float]:
        """a_k of b + Σ a_k (m_k − b) + clipping, the margin played; and what clipping added."""
        shares = self.shares()
        if self.loss.mixing == "log-odds":
            return log_odds_factors(shares, margins, self.margin(margins), base), 0.0
        pairs = zip(shares, margins, strict=True)
        return shares, sum(share * (self._clip(margin) - margin) for share, margin in pairs)

    def penalty(self, penalties: Sequence[float]) -> float:
        """The mixture's penalty: the experts' on average, as if one were drawn by its share."""
        return sum(share * each for share, each in zip(self.shares(), penalties, strict=True))

    def absorb(
        self,
        margins: Sequence[float],
        label: float,
        importance: float,
        penalties: Sequence[float] = NO_PENALTIES,
    ) -> None:
        """What is remembered after a round."""
        if importance == 0:
            return
        own = self.loss.value(self.margin(margins), label) + self.penalty(penalties)
        pairs = zip(margins, penalties, strict=True)
        lost = [importance * (self.loss.value(self._clip(m), label) + each) for m, each in pairs]
        surplus = self.surplus + self._gap(importance * own, lost)
        self.losses = [before + now for before, now in zip(self.losses, lost, strict=True)]
        if self.fixed_share:
            self._deal()
        self.surplus = surplus
        self.clipping += importance * self._cost_of_clipping(margins, label)
        self.heaviest = max(self.heaviest, importance)
        if self.loss.mixing == "clipped-mean":
            low, high = self.labels or (label, label)
            self.labels = min(low, label), max(high, label)

    def _cost_of_clipping(self, margins: Sequence[float], label: float) -> float:
        """max_k max(0, clipped loss_k − loss_k), which is 0 for labels in [A, B]."""
        if self.labels is None or self.labels[0] <= label <= self.labels[1]:
            return 0.0
        value = self.loss.value
        return max(0.0, *(value(self._clip(m), label) - value(m, label) for m in margins))

    def _deal(self) -> None:
        """Fixed share, at the rate of the round: π ← (1 − a) π + a/K."""
        part = self.fixed_share / EXPERTS
        dealt = [max(TINY, (1 - self.fixed_share) * share + part) for share in self.shares()]
        # 0 for all at an infinite rate, the limit: before losses count, any share is as good.
        self.losses = [-log(share) / self.rate for share in dealt]
        self.sharing -= log1p(part - self.fixed_share) / self.rate

    def _gap(self, own: float, lost: Sequence[float]) -> float:
        """δ. Log loss may gain; for the others only gaps above 0, but for rounding, count."""
        gap = own - self._mix_loss(lost)
        return gap if self.loss.mixing == "log-odds" or gap > ROUNDING * own else 0.0

    def _mix_loss(self, lost: Sequence[float]) -> float:
        """−(1/η) ln Σ π_k exp(−η loss_k); for infinite η how far the least loss has risen."""
        gaps = [before - min(self.losses) for before in self.losses]
        after = [gap + now for gap, now in zip(gaps, lost, strict=True)]
        least = min(after)
        rise = _log_sum([_fall(self.rate, gap - least) for gap in after])
        return least - (rise - _log_sum([_fall(self.rate, gap) for gap in gaps])) / self.rate

    def _log_mean(self, logs: Sequence[float]) -> float:
        """ln Σ π_k exp(logs_k)."""
        pairs = zip(self.log_shares(), logs, strict=True)
        return _log_sum([share + each for share, each in pairs])

    def _clip(self, margin: float) -> float:
        """The nearest label met; all margins are as good before there is one."""
        return margin if self.labels is None else min(self.labels[1], max(self.labels[0], margin))


def _losses(standing: dict[str, Any]) -> list[float]:
    """L_k of a model file; those that give its shares, if it holds shares."""
    if "losses" in standing:
        return list(standing["losses"])
    rate = standing["at_rate"] or inf
    return [-log(max(TINY, share)) / rate for share in standing["shares"]]


def _inverse(number: float) -> float:
    return 1 / number if number > 0 else inf


def _fall(rate: float, gap: float) -> float:
    """−rate · gap, 0 for no gap whatever the rate."""
    return -rate * gap if gap else 0.0


def _log_sum(logs: Sequence[float]) -> float:
    """ln Σ exp(logs_k)."""
    return max(logs) + log(sum(exp(each - max(logs)) for each in logs))
