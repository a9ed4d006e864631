"""A loss with one parameter, a number after a colon in its name: ``quantile:0.9``."""

from __future__ import annotations

from typing import ClassVar

from lessregret.errors import SpecError
from lessregret.learners.losses.loss import Loss


class WithParameter(Loss):
    """A loss with a parameter; its name says both."""

    family: ClassVar[str]
    """The name before the colon."""
    expected: ClassVar[str]
    """What the parameter must be, for errors."""
    sample: ClassVar[float]
    """A parameter for tests and examples."""

    def __init__(self, parameter: float) -> None:
        self.parameter = parameter
        self.name = f"{self.family}:{spelled(parameter)}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.parameter!r})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(self.name)

    @staticmethod
    def is_valid(parameter: float) -> bool:
        """Whether the parameter is within its limits."""
        raise NotImplementedError

    @classmethod
    def parsed(cls, text: str | None) -> WithParameter:
        """The loss whose parameter is this text."""
        try:
            parameter = float(text or "")
        except ValueError:
            parameter = float("nan")
        if not cls.is_valid(parameter):
            found = cls.family if text is None else f"{cls.family}:{text}"
            raise SpecError(
                f"the loss {cls.family!r} needs {cls.expected} after a colon, as in "
                f"'{cls.family}:{spelled(cls.sample)}'; found {found!r}"
            )
        return cls(parameter)


def spelled(parameter: float) -> str:
    """The parameter as the core spells it: all digits, no exponent.

    >>> spelled(0.9), spelled(1.0), spelled(1e-7)
    ('0.9', '1', '0.0000001')
    """
    from decimal import Decimal

    return f"{Decimal(repr(float(parameter))):f}".removesuffix(".0")
