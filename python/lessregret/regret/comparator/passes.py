"""Passes over the examples: the loss and its derivatives at a point.

There are two implementations. :class:`InMemory` keeps the examples in memory and merges those with
the same features. :class:`OverFiles` reads the files again, in blocks, for every pass, so that they
may be larger than memory.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lessregret import _core
from lessregret.data.examples import Examples
from lessregret.data.streams import Data, open_examples
from lessregret.errors import InputError
from lessregret.learners.losses import loss_named
from lessregret.learners.space import FeatureSpace, HasSpace, space_of
from lessregret.regret.comparator.floats import Floats
from lessregret.regret.comparator.hinges import Hinges

LARGEST_FACTOR = 4096
"""The most rows or columns, whichever are fewer, for which equations are solved by factors.

They take 128 megabytes, and some seconds for each of about 15 factorisations."""
BLOCK = 1 << 17
"""Examples in memory at a time when files are read again: some tens of megabytes."""


@dataclass(frozen=True)
class Look:
    """The loss and its gradient at a point, summed over the examples with their importances."""

    point: Floats
    temperature: float
    """ε of the barrier that makes the hinge loss smooth"""
    loss: float
    """Σ h ℓ"""
    smooth: float
    """Σ h of the smooth approximation of ℓ that the search minimises if ℓ has a kink"""
    dual: float
    """Σ −(hℓ)*(slope): the part of the lower bound that does not depend on the box"""
    gradient: Floats
    """Σ slope · θ of the smooth loss, one entry per column"""
    curvatures: Floats | None
    """the second derivative of the loss of each row; None if recomputed when needed"""


class Passes(ABC):
    """Examples that can be read repeatedly."""

    loss: str
    """the name of the loss"""
    slots: NDArray[np.uint32]
    """the slot of each column; only features that occur have a column"""
    importances: Floats
    """for each column the sum of importances of the examples that have the feature"""
    total: float
    """the sum of all importances"""

    @abstractmethod
    def look(self, point: Floats, temperature: float) -> Look:
        """The loss, its gradient and the dual value at a point."""

    @abstractmethod
    def diagonal(self, look: Look) -> Floats:
        """The diagonal of the Hessian at the point of ``look``."""

    @abstractmethod
    def times(self, look: Look, direction: Floats) -> Floats:
        """The product of the Hessian at the point of ``look`` and a vector."""

    def hinges(self) -> Hinges | None:
        """The loss as a sum of hinges; None if it is not one, too large, or has base margins."""
        return None

    def _take(self, columns: _core.Columns) -> None:
        self.slots = columns.slots()
        self.importances = columns.importances()
        self.total = columns.total


class InMemory(Passes):
    """The first ``count`` examples, or all, in memory; those with equal features are merged."""

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

    def hinges(self) -> Hinges | None:
        loss, width = loss_named(self.loss), len(self.slots)
        piecewise = loss.is_classification and loss.pieces(1.0)
        too_large = min(self._problem.rows, width) > LARGEST_FACTOR
        if not piecewise or too_large or self._problem.has_bases:
            return None
        (ends, columns, values), importances = self._problem.labelled()
        places = np.append(0, ends.astype(np.int64)), columns.astype(np.int64)
        data = values.astype(np.float64), places[1], places[0]
        rows = csr_array(data, shape=(self._problem.rows, width))
        return Hinges.of_labels(loss, rows, zip((1.0, -1.0), importances, strict=True))


class OverFiles(Passes):
    """The examples of files, which are read again for every pass.

    Parameters
    ----------
    files : names of files
        The files to read. Standard input is not possible, since it can be read only once.
    space : FeatureSpace, or a learner or source of examples that has one
        The feature space to read the examples for. Its ``labels`` are replaced by those of the
        loss.
    loss : str
        The name of the loss.
    format, bad_lines, scale
        The parameters of :func:`lessregret.data.streams.open_examples`.
    block : int
        The number of examples that are in memory at a time.
    """

    def __init__(
        self,
        files: Sequence[str | os.PathLike[str]] | Data,
        space: FeatureSpace | HasSpace,
        loss: str,
        *,
        format: str = "auto",
        bad_lines: str = "stop",
        scale: str = "none",
        block: int = BLOCK,
    ) -> None:
        if "-" in (files.files if isinstance(files, Data) else files):
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
