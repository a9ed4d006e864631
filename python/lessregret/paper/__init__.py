"""The paper's claims, one a module, re-run.

module_of("theorem1")   ─▶  run(request, done) ─▶ Finding, and draw(finding, path)
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

CLAIMS = {
    "tradeoff": "§2.2: in one dimension any fixed rate is too large or too small for some problem.",
    "theorem1": "Theorem 1: a global rate has regret T^(2/3) where per-coordinate rates have √T.",
    "theorem2": "Theorem 2: the bound of a global rate is within √2 of the best in hindsight.",
    "theorem3": "Theorem 3: the per-coordinate bound is within √2 of the best in hindsight.",
    "lemma1": "Lemma 1: Σ x_i/√(x_1 + … + x_i) ≤ 2√(Σ x_i).",
    "lemma2": "Lemma 2: with a learner per coordinate, regret is at most the sum of their regrets.",
    "strong-convexity": "§4.1: regret √T on linear and log T on strongly convex coordinates.",
    "variance": "§4.2: regret bounded by how much the gradients of each coordinate vary.",
    "adaptive": "§4.3: small regret on every interval of rounds, separately for each coordinate.",
    "table1": "Table 1 (§5.1): hinge loss and mistakes of Global, Per-Coord, CW and PA on text.",
    "table2": "Table 2 (§5.2): regret of Global and Per-Coord, logistic regression on ad clicks.",
}
"""Every claim by its name, in one line, in the order of the paper."""


def module_of(name: str) -> ModuleType:
    """The module that re-runs a claim."""
    return import_module(f"lessregret.paper.{name.replace('-', '_')}")
