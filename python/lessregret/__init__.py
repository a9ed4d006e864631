"""Online learning of linear models, with a report of the regret.

    from lessregret import OnlineClassifier, PerCoordinate

    clf = OnlineClassifier(loss="hinge", rule=PerCoordinate(rate=0.3, radius=100))
    clf.partial_fit(X, y, classes=[-1, 1])
    clf.ledger_.mean_loss, clf.ledger_.bound

Names are imported when they are first used, so that the command line starts fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lessregret._core import __version__ as __version__
    from lessregret.data.arrow_tables import ArrowTable as ArrowTable
    from lessregret.data.arrow_tables import open_table as open_table
    from lessregret.data.examples import Examples as Examples
    from lessregret.data.examples import Rows as Rows
    from lessregret.data.streams import ExampleStream as ExampleStream
    from lessregret.data.streams import open_examples as open_examples
    from lessregret.errors import DivergedError as DivergedError
    from lessregret.errors import InputError as InputError
    from lessregret.errors import LessRegretError as LessRegretError
    from lessregret.errors import MergeError as MergeError
    from lessregret.errors import ModelFileError as ModelFileError
    from lessregret.errors import OutOfMemoryError as OutOfMemoryError
    from lessregret.errors import SpecError as SpecError
    from lessregret.estimators import OnlineClassifier as OnlineClassifier
    from lessregret.estimators import OnlineRegressor as OnlineRegressor
    from lessregret.learners.explanation import Explanation as Explanation
    from lessregret.learners.learner import Learner as Learner
    from lessregret.learners.learner import learn_many as learn_many
    from lessregret.learners.merge import merge as merge
    from lessregret.learners.namespaces import Namespaces as Namespaces
    from lessregret.learners.outcomes import Outcomes as Outcomes
    from lessregret.learners.readable import ReadableLearner as ReadableLearner
    from lessregret.learners.rules import CW as CW
    from lessregret.learners.rules import PA as PA
    from lessregret.learners.rules import PA1 as PA1
    from lessregret.learners.rules import PA2 as PA2
    from lessregret.learners.rules import AdaptiveRevision as AdaptiveRevision
    from lessregret.learners.rules import Arow as Arow
    from lessregret.learners.rules import BoxedRule as BoxedRule
    from lessregret.learners.rules import Coin as Coin
    from lessregret.learners.rules import Constant as Constant
    from lessregret.learners.rules import CWStdev as CWStdev
    from lessregret.learners.rules import ExampleStats as ExampleStats
    from lessregret.learners.rules import Ftrl as Ftrl
    from lessregret.learners.rules import Global as Global
    from lessregret.learners.rules import InverseSqrt as InverseSqrt
    from lessregret.learners.rules import PerCoordinate as PerCoordinate
    from lessregret.learners.rules import Rule as Rule
    from lessregret.learners.rules import Step as Step
    from lessregret.learners.schema import Column as Column
    from lessregret.learners.schema import Schema as Schema
    from lessregret.learners.space import FeatureSpace as FeatureSpace
    from lessregret.ledger import Ledger as Ledger
    from lessregret.regret.comparator import BestFixed as BestFixed
    from lessregret.regret.comparator import InMemory as InMemory
    from lessregret.regret.comparator import OverFiles as OverFiles
    from lessregret.regret.comparator import Regret as Regret
    from lessregret.regret.comparator import best_fixed as best_fixed
    from lessregret.regret.comparator import iterate_best_fixed as iterate_best_fixed
    from lessregret.regret.measure import FromFiles as FromFiles
    from lessregret.regret.measure import FromMemory as FromMemory
    from lessregret.regret.measure import Measured as Measured
    from lessregret.regret.measure import RegretPoint as RegretPoint
    from lessregret.regret.measure import measure as measure
    from lessregret.regret.of_predictions import RegretOf as RegretOf
    from lessregret.regret.of_predictions import regret_of as regret_of
    from lessregret.training.run import Training as Training
    from lessregret.training.run import train as train

_HOMES = {
    "AdaptiveRevision": "learners.rules",
    "Arow": "learners.rules",
    "ArrowTable": "data.arrow_tables",
    "BestFixed": "regret.comparator",
    "BoxedRule": "learners.rules",
    "CW": "learners.rules",
    "CWStdev": "learners.rules",
    "Coin": "learners.rules",
    "Column": "learners.schema",
    "Constant": "learners.rules",
    "DivergedError": "errors",
    "ExampleStream": "data.streams",
    "Examples": "data.examples",
    "Explanation": "learners.explanation",
    "FeatureSpace": "learners.space",
    "Ftrl": "learners.rules",
    "Global": "learners.rules",
    "InMemory": "regret.comparator",
    "InputError": "errors",
    "InverseSqrt": "learners.rules",
    "FromMemory": "regret.measure",
    "Learner": "learners.learner",
    "Ledger": "ledger",
    "LessRegretError": "errors",
    "RegretPoint": "regret.measure",
    "Measured": "regret.measure",
    "MergeError": "errors",
    "ModelFileError": "errors",
    "Namespaces": "learners.namespaces",
    "OnlineClassifier": "estimators",
    "OnlineRegressor": "estimators",
    "OutOfMemoryError": "errors",
    "Outcomes": "learners.outcomes",
    "OverFiles": "regret.comparator",
    "PA": "learners.rules",
    "PA1": "learners.rules",
    "PA2": "learners.rules",
    "PerCoordinate": "learners.rules",
    "ReadableLearner": "learners.readable",
    "Regret": "regret.comparator",
    "RegretOf": "regret.of_predictions",
    "FromFiles": "regret.measure",
    "Rows": "data.examples",
    "Rule": "learners.rules",
    "ExampleStats": "learners.rules",
    "Schema": "learners.schema",
    "SpecError": "errors",
    "Step": "learners.rules",
    "Training": "training.run",
    "__version__": "_core",
    "iterate_best_fixed": "regret.comparator",
    "best_fixed": "regret.comparator",
    "learn_many": "learners.learner",
    "merge": "learners.merge",
    "measure": "regret.measure",
    "open_examples": "data.streams",
    "open_table": "data.arrow_tables",
    "regret_of": "regret.of_predictions",
    "train": "training.run",
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
