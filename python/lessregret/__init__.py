"""Online learning that shows its regret.

    from lessregret import OnlineClassifier, PerCoordinate

    clf = OnlineClassifier(loss="hinge", rule=PerCoordinate(rate=0.3, radius=100))
    clf.partial_fit(X, y, classes=[-1, 1])
    clf.ledger_.mean_loss, clf.ledger_.bound

Names are imported when they are first used, so that the command line starts at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lessregret._core import __version__ as __version__
    from lessregret.comparator import Best as Best
    from lessregret.comparator import InMemory as InMemory
    from lessregret.comparator import OverFiles as OverFiles
    from lessregret.comparator import Regret as Regret
    from lessregret.comparator import approach as approach
    from lessregret.comparator import best_fixed as best_fixed
    from lessregret.errors import DivergedError as DivergedError
    from lessregret.errors import InputError as InputError
    from lessregret.errors import LessRegretError as LessRegretError
    from lessregret.errors import MergeError as MergeError
    from lessregret.errors import ModelFileError as ModelFileError
    from lessregret.errors import SpecError as SpecError
    from lessregret.estimators import OnlineClassifier as OnlineClassifier
    from lessregret.estimators import OnlineRegressor as OnlineRegressor
    from lessregret.learner import Learner as Learner
    from lessregret.ledger import Ledger as Ledger
    from lessregret.readable import ReadableLearner as ReadableLearner
    from lessregret.regret import Kept as Kept
    from lessregret.regret import Mark as Mark
    from lessregret.regret import Measured as Measured
    from lessregret.regret import Reread as Reread
    from lessregret.regret import measure as measure
    from lessregret.rules import CW as CW
    from lessregret.rules import PA as PA
    from lessregret.rules import PA1 as PA1
    from lessregret.rules import PA2 as PA2
    from lessregret.rules import Arow as Arow
    from lessregret.rules import BoxedRule as BoxedRule
    from lessregret.rules import Constant as Constant
    from lessregret.rules import CWStdev as CWStdev
    from lessregret.rules import Ftrl as Ftrl
    from lessregret.rules import Global as Global
    from lessregret.rules import InverseSqrt as InverseSqrt
    from lessregret.rules import PerCoordinate as PerCoordinate
    from lessregret.rules import Rule as Rule
    from lessregret.rules import Sight as Sight
    from lessregret.rules import Step as Step

_HOMES = {
    "Arow": "rules",
    "Best": "comparator",
    "BoxedRule": "rules",
    "CW": "rules",
    "CWStdev": "rules",
    "Constant": "rules",
    "DivergedError": "errors",
    "Ftrl": "rules",
    "Global": "rules",
    "InMemory": "comparator",
    "InputError": "errors",
    "InverseSqrt": "rules",
    "Kept": "regret",
    "Learner": "learner",
    "Ledger": "ledger",
    "LessRegretError": "errors",
    "Mark": "regret",
    "Measured": "regret",
    "MergeError": "errors",
    "ModelFileError": "errors",
    "OnlineClassifier": "estimators",
    "OnlineRegressor": "estimators",
    "OverFiles": "comparator",
    "PA": "rules",
    "PA1": "rules",
    "PA2": "rules",
    "PerCoordinate": "rules",
    "ReadableLearner": "readable",
    "Reread": "regret",
    "Regret": "comparator",
    "Rule": "rules",
    "Sight": "rules",
    "SpecError": "errors",
    "Step": "rules",
    "__version__": "_core",
    "measure": "regret",
    "approach": "comparator",
    "best_fixed": "comparator",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'lessregret' has no attribute {name!r}")
    value = getattr(import_module(f"lessregret.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
