"""Algorithms for the online convex game, in float64, to be read.

``Algorithm`` plays points of a domain; ``OneDimensional`` plays points of an interval, and
``Composite`` makes an algorithm of one of these for each coordinate (the paper's Lemma 2).
"""

from __future__ import annotations

from lessregret.game.algorithms.adaptive_descent import AdaptiveDescent, JointAdaptiveDescent
from lessregret.game.algorithms.algorithm import Algorithm, OneDimensional, Seen
from lessregret.game.algorithms.composite import Composite, RuleLearner
from lessregret.game.algorithms.descent import (
    ConstantRate,
    Descent,
    GlobalRate,
    HorizonRate,
    PerCoordinateRate,
    RootRate,
    StronglyConvexRate,
)
from lessregret.game.algorithms.ftprl import DiagonalFTPRL
from lessregret.game.algorithms.full_matrix import FullMatrixAdaGrad
from lessregret.game.algorithms.leading_history import JointLeadingHistory, LeadingHistory
from lessregret.game.algorithms.variation import LazyProjection, Optimistic, RestartedLazyProjection

__all__ = [
    "AdaptiveDescent",
    "Algorithm",
    "Composite",
    "ConstantRate",
    "Descent",
    "DiagonalFTPRL",
    "FullMatrixAdaGrad",
    "GlobalRate",
    "HorizonRate",
    "JointAdaptiveDescent",
    "JointLeadingHistory",
    "LazyProjection",
    "LeadingHistory",
    "OneDimensional",
    "Optimistic",
    "PerCoordinateRate",
    "RestartedLazyProjection",
    "RootRate",
    "RuleLearner",
    "Seen",
    "StronglyConvexRate",
]
