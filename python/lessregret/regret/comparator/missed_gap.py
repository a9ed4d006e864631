"""The warning of a search that ends before it reaches the gap that was asked for."""

from __future__ import annotations

from lessregret.learners.losses import loss_named
from lessregret.regret.comparator.passes import OverFiles, Passes


class GapWarning(UserWarning):
    """The search for the best fixed point ended before the gap that was asked for."""


def missed_gap(passes: Passes, least: tuple[float, float], gap: float) -> str:
    """What is certified, and what to do; ``least`` encloses the smallest mean loss."""
    low, high = least
    return (
        f"the search for the best fixed point ended with a gap of {high - low:.1e} per example; "
        f"{gap:.1e} was asked for. It is certified that the smallest mean loss of a fixed point is "
        f"from {low:.6g} to {high:.6g}, and the regret that is told is an interval as wide. "
        f"For a smaller gap {_advice(passes)}; or ask for a gap of {high - low:.1e}"
    )


def _advice(passes: Passes) -> str:
    kinked = loss_named(passes.loss).has_kink
    if kinked and isinstance(passes, OverFiles):
        return f"keep the examples in memory, where the {passes.loss} loss has a better search"
    return "use a smaller radius or an L2 above 0"
