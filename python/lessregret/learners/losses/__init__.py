"""The losses of the margin, one a file: the readable twins of the losses in ``crates/core/src/``.

>>> list(LOSSES)
['logistic', 'hinge', 'squared']
"""

from __future__ import annotations

from lessregret.errors import SpecError
from lessregret.learners.losses.hinge import Hinge
from lessregret.learners.losses.logistic import Logistic
from lessregret.learners.losses.loss import Loss
from lessregret.learners.losses.squared import Squared

LOSSES: dict[str, Loss] = {loss.name: loss for loss in (Logistic(), Hinge(), Squared())}
"""Every loss by its name."""


def loss_named(name: str) -> Loss:
    """The loss with this name."""
    if name not in LOSSES:
        raise SpecError(f"unknown loss {name!r}; the losses are {', '.join(LOSSES)}")
    return LOSSES[name]


__all__ = ["LOSSES", "Hinge", "Logistic", "Loss", "Squared", "loss_named"]
