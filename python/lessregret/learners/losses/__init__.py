"""The losses of the margin, one a file: the readable twins of ``crates/core/src/loss/``.

Which losses there are says the core's table; each stands in the file that has its name.

>>> list(LOSSES)
['logistic', 'hinge', 'squared', 'squared-hinge', 'poisson', 'absolute', 'quantile:0.9', 'huber:1']
>>> loss_named("quantile:0.25")
Quantile(0.25)
"""

from __future__ import annotations

from importlib import import_module

from lessregret import _core
from lessregret.errors import SpecError
from lessregret.learners.losses.absolute import Absolute
from lessregret.learners.losses.hinge import Hinge
from lessregret.learners.losses.huber import Huber
from lessregret.learners.losses.logistic import Logistic
from lessregret.learners.losses.loss import Loss
from lessregret.learners.losses.parameter import WithParameter
from lessregret.learners.losses.poisson import Poisson
from lessregret.learners.losses.quantile import Quantile
from lessregret.learners.losses.squared import Squared
from lessregret.learners.losses.squared_hinge import SquaredHinge
from lessregret.learners.names import LOSSES_ELSEWHERE, unknown


def _find(family: str) -> type[Loss]:
    """The loss with this name, without a parameter, in the file with this name."""
    module = import_module(f"{__name__}.{family.replace('-', '_')}")
    classes = [member for member in vars(module).values() if isinstance(member, type)]
    names = ("name", "family")
    [found] = [
        kind
        for kind in classes
        if issubclass(kind, Loss) and family in (vars(kind).get(name) for name in names)
    ]
    return found


FAMILIES = {name.partition(":")[0]: _find(name.partition(":")[0]) for name in _core.LOSSES}
"""The types of the losses, by their names without a parameter."""


def loss_named(name: str) -> Loss:
    """The loss with this name, as users write it."""
    if not isinstance(name, str):
        raise SpecError(f"a loss is given by its name, found {name!r}")
    family, colon, parameter = name.partition(":")
    if family not in FAMILIES:
        raise SpecError(unknown("loss", "losses", family, _core.LOSSES, LOSSES_ELSEWHERE))
    found = FAMILIES[family]
    if issubclass(found, WithParameter):
        return found.parsed(parameter if colon else None)
    if colon:
        raise SpecError(
            f"the loss {family!r} has no parameter, found {name!r}; leave out {':' + parameter!r}"
        )
    return found()


LOSSES: dict[str, Loss] = {name: loss_named(name) for name in _core.LOSSES}
"""Every loss that has a twin in Rust, by its name; of those with a parameter, one."""

__all__ = [
    "FAMILIES",
    "LOSSES",
    "Absolute",
    "Hinge",
    "Huber",
    "Logistic",
    "Loss",
    "Poisson",
    "Quantile",
    "Squared",
    "SquaredHinge",
    "loss_named",
]
