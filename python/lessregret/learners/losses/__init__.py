"""The losses of the margin, one a file: the readable twins of ``crates/core/src/loss/``.

Which losses there are says the core's table; each stands in the file that has its name.

>>> list(LOSSES)
['logistic', 'hinge', 'squared']
"""

from __future__ import annotations

from importlib import import_module

from lessregret import _core
from lessregret.errors import SpecError
from lessregret.learners.losses.hinge import Hinge
from lessregret.learners.losses.logistic import Logistic
from lessregret.learners.losses.loss import Loss
from lessregret.learners.losses.squared import Squared


def _find(name: str) -> Loss:
    """The loss with this name, in the file with this name."""
    module = import_module(f"{__name__}.{name.replace('-', '_')}")
    classes = [member for member in vars(module).values() if isinstance(member, type)]
    [found] = [
        kind for kind in classes if issubclass(kind, Loss) and vars(kind).get("name") == name
    ]
    return found()


LOSSES: dict[str, Loss] = {name: _find(name) for name in _core.LOSSES}
"""Every loss that has a twin in Rust, by its name."""


def loss_named(name: str) -> Loss:
    """The loss with this name."""
    if name not in LOSSES:
        raise SpecError(f"unknown loss {name!r}; the losses are {', '.join(LOSSES)}")
    return LOSSES[name]


__all__ = ["LOSSES", "Hinge", "Logistic", "Loss", "Squared", "loss_named"]
