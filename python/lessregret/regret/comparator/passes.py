"""Passes over the examples: what they say of a point, from memory or from files read again.

Both sources answer the same three questions of a :class:`Look` at a point. Memory keeps the
examples once, those with the same features merged, and the curvatures of the last look. Files are
read again for every question, in blocks, so that they may be larger than memory.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lessregret import _core
from lessregret.data.examples import Examples
from lessregret.data.streams import open_examples
from lessregret.errors import InputError
from lessregret.learners.losses import loss_named
from lessregret.learners.space import FeatureSpace, HasSpace, space_of

Floats: TypeAlias = NDArray[np.float64]

BLOCK = 1 << 17
"""Examples in memory at a time when files are read again: some tens of megabytes."""


@dataclass(frozen=True)
class Look:
    """What the examples say of a point; the sums are over all of them, weighted."""

    point: Floats
    temperature: float
    """ε of the barrier that makes hinge smooth"""
    loss: float
    """Σ h ℓ"""
    smooth: float
    """the same of the smooth loss that is searched where ℓ has a kink"""
    dual: float
    """Σ −(hℓ)*(slope): the part of the lower bound that does not depend on the box"""
    gradient: Floats
    """Σ slope · θ of the smooth loss, a column each"""
    curvatures: Floats | None
    """of each row; None where they are computed again when needed"""


class Passes(ABC):
    """Examples that can be gone over again and again."""

    loss: str
    """the loss they look with"""
    slots: NDArray[np.uint32]
    """the slot of each column: only features that occur have one"""
    importances: Floats
    """Σ h over the examples in which a column is active"""
    total: float
    """Σ h"""

    @abstractmethod
    def look(self, point: Floats, temperature: float) -> Look:
        """Loss, gradient and dual at a point."""

    @abstractmethod
    def diagonal(self, look: Look) -> Floats:
        """The diagonal of the Hessian."""

    @abstractmethod
    def times(self, look: Look, direction: Floats) -> Floats:
        """The Hessian times a direction."""

    def _take(self, columns: _core.Columns) -> None:
        self.slots = columns.slots()
        self.importances = columns.importances()
        self.total = columns.total


class InMemory(Passes):
    """The first ``count`` examples, or all, kept and merged."""

    def __init__(self, examples: Examples, loss: str, count: int | None = None) -> None:
        self.loss = loss
        columns = _core.Columns(examples.space.slots)
        columns.meet(examples.core, count)
        self._problem = _core.Problem(columns, examples.core, loss, count)
        self._take(columns)

    def look(self, point: Floats, temperature: float) -> Look:
        gradient = np.zeros(len(point))
        loss, smooth, dual, curvatures = self._problem.evaluate(point, temperature, gradient)
        return Look(point, temperature, loss, smooth, dual, gradient, curvatures)

    def diagonal(self, look: Look) -> Floats:
        diagonal = np.zeros(len(look.point))
        assert look.curvatures is not None
        self._problem.diagonal(look.curvatures, diagonal)
        return diagonal

    def times(self, look: Look, direction: Floats) -> Floats:
        product = np.zeros(len(direction))
        assert look.curvatures is not None
        self._problem.times(look.curvatures, direction, product)
        return product


class OverFiles(Passes):
    """The examples of files, read again for every pass.

    Parameters
    ----------
    files : names of files
        Not standard input, which can be read only once.
    space : FeatureSpace, or a learner or source that has one
        The table and the intercept say how the text becomes examples; the labels are those of the
        loss.
    loss : str
        The loss to look with.
    format, bad_lines, scale
        As for :func:`lessregret.data.streams.open_examples`.
    """

    def __init__(
        self,
        files: Sequence[str | os.PathLike[str]],
        space: FeatureSpace | HasSpace,
        loss: str,
        *,
        format: str = "auto",
        bad_lines: str = "stop",
        scale: str = "none",
        block: int = BLOCK,
    ) -> None:
        if "-" in files:
            raise InputError("<stdin>", 0, 0, "standard input", "files, to be read several times")
        self._files, self.loss = files, loss
        self._space = replace(space_of(space), labels=loss_named(loss).labels)
        self._format, self._bad_lines, self._block = format, bad_lines, block
        self._scale = scale
        self._columns = _core.Columns(self._space.slots)
        for examples in self._blocks():
            self._columns.meet(examples)
        self._take(self._columns)

    def look(self, point: Floats, temperature: float) -> Look:
        gradient, sums = np.zeros(len(point)), np.zeros(3)
        for problem in self._problems():
            *parts, _ = problem.evaluate(point, temperature, gradient)
            sums += parts
        loss, smooth, dual = map(float, sums)
        return Look(point, temperature, loss, smooth, dual, gradient, None)

    def diagonal(self, look: Look) -> Floats:
        diagonal = np.zeros(len(look.point))
        for problem, curvatures in self._curved(look):
            problem.diagonal(curvatures, diagonal)
        return diagonal

    def times(self, look: Look, direction: Floats) -> Floats:
        product = np.zeros(len(direction))
        for problem, curvatures in self._curved(look):
            problem.times(curvatures, direction, product)
        return product

    def _curved(self, look: Look) -> Iterator[tuple[_core.Problem, Floats]]:
        unused = np.zeros(len(look.point))
        for problem in self._problems():
            yield problem, problem.evaluate(look.point, look.temperature, unused)[3]

    def _problems(self) -> Iterator[_core.Problem]:
        for examples in self._blocks():
            yield _core.Problem(self._columns, examples, self.loss)

    def _blocks(self) -> Iterator[_core.Examples]:
        stream = open_examples(
            self._files,
            self._space,
            format=self._format,
            bad_lines=self._bad_lines,
            scale=self._scale,
        )
        while examples := _core.Examples.from_stream(stream.core, self._block):
            yield examples
