"""The comparator: the best fixed point in hindsight, with a certificate of how good it is.

Regret is measured against the least loss that any fixed point of the feasible set F would have had.
Nobody knows that number exactly; this module encloses it,

    lower ≤ min over F of Σ f_t(x) ≤ total

where ``total`` is the loss of a point that is at hand and ``lower`` a dual value (see
``objective.py``). Both are sums in float64 over the very examples the learner saw.

    passes.py          what the examples say of a point, from memory or from files
    passes_of_classes.py  the same of many classes, from memory
    objective.py       the sum that is minimised, and its lower bound
    interior_point.py  the search
    hinges.py          a piecewise linear loss as a sum of hinges
    primal_dual.py     the search for such a loss
    newton_system.py   the equations of its steps
    box.py             the feasible set
    missed_gap.py      the warning where the gap is not reached
    best.py            the answer
    floats.py          the type of the vectors
"""

from __future__ import annotations

from lessregret.regret.comparator.best import BestFixed, Regret, best_fixed, iterate_best_fixed
from lessregret.regret.comparator.missed_gap import GapWarning
from lessregret.regret.comparator.passes import InMemory, OverFiles, Passes
from lessregret.regret.comparator.passes_of_classes import ClassPasses, class_passes

__all__ = [
    "BestFixed",
    "ClassPasses",
    "GapWarning",
    "InMemory",
    "OverFiles",
    "Passes",
    "Regret",
    "best_fixed",
    "class_passes",
    "iterate_best_fixed",
]
