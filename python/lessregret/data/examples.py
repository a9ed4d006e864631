"""Sources of examples that are not files: the rows of a matrix, and examples kept in memory.

Examples in memory are parsed, hashed and checked once. Several learners can be trained on them in
parallel; each computes the same bits as if it had been trained alone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lessregret import _core
from lessregret.data.streams import ExampleStream
from lessregret.errors import SpecError
from lessregret.learners.sources import checked_limit, core_of
from lessregret.learners.space import FeatureSpace, HasSpace, space_of


class Rows:
    """The rows of a sparse matrix as examples, read in place.

    Parameters
    ----------
    indptr, indices, values : arrays
        The matrix in compressed sparse row form. Arrays of 32- or 64-bit integers and floats are
        read in place; others are copied.
    labels : array, optional
        One label per row. Rows without labels can only be predicted.
    importances : array of numbers from 0 up, optional
        The importance of each row, which multiplies its loss. The default is 1 for each row.
    bases : array, optional
        The base margin of each row, such as a score of another model, which is added to the margin.
        The default is 0 for each row.
    space : FeatureSpace, or a learner or source of examples that has one
        The feature space of the learner that the rows are for.

    >>> rows = Rows([0, 2], [0, 2], [1.0, 2.0], labels=[1], space=FeatureSpace(columns=3))
    >>> len(rows), rows.space.columns
    (1, 3)
    """

    def __init__(
        self,
        indptr: ArrayLike,
        indices: ArrayLike,
        values: ArrayLike,
        labels: ArrayLike | None = None,
        importances: ArrayLike | None = None,
        *,
        bases: ArrayLike | None = None,
        space: FeatureSpace | HasSpace,
    ) -> None:
        self.space = _as_read(space)
        self.indptr = _typed(indptr, np.int32, np.int64)
        self.indices = _typed(indices, np.int32, np.int64)
        self.values = _typed(values, np.float32, np.float64)
        self.labels = _floats(labels)
        self.importances = _floats(importances)
        self.bases = _floats(bases)
        matrix = self.indptr, self.indices, self.values
        targets = self.labels, self.importances, self.bases
        self.core = _core.Rows(self.space.to_json(), *matrix, *targets)

    @classmethod
    def from_csr(
        cls,
        X: Any,
        y: ArrayLike | None = None,
        importances: ArrayLike | None = None,
        *,
        bases: ArrayLike | None = None,
        space: FeatureSpace | HasSpace,
    ) -> Rows:
        """The rows of a SciPy matrix in compressed sparse row (CSR) form."""
        return cls(X.indptr, X.indices, X.data, y, importances, bases=bases, space=space)

    def __len__(self) -> int:
        return len(self.indptr) - 1


class Examples:
    """Examples kept in memory, for training several learners or in several orders.

    :meth:`collect` and :meth:`from_csr` create them.

    >>> from scipy.sparse import csr_array
    >>> from lessregret import Learner
    >>> learner = Learner("hinge", columns=2, intercept=False)
    >>> examples = Examples.from_csr(csr_array([[1.0, 0.0], [0.0, 2.0]]), [1, -1], space=learner)
    >>> len(learner.learn(examples, order=[1, 0]))
    2
    """

    def __init__(self, core: _core.Examples) -> None:
        self.core = core

    @classmethod
    def collect(cls, examples: ExampleStream | Rows, limit: int | None = None) -> Examples:
        """Read the next ``limit`` examples of a stream, or its rest; of ``Rows``, all rows."""
        if isinstance(examples, Rows):
            return cls(_core.Examples.from_rows(_as_labelled(examples).core))
        core = core_of(examples)
        if not isinstance(core, _core.Stream):
            found = type(examples).__name__
            raise SpecError(f"examples: expected an ExampleStream or Rows, found {found}")
        return cls(_core.Examples.from_stream(core, checked_limit(limit)))

    @classmethod
    def from_csr(
        cls,
        X: Any,
        y: ArrayLike,
        importances: ArrayLike | None = None,
        *,
        space: FeatureSpace | HasSpace,
    ) -> Examples:
        """The rows of a SciPy matrix in compressed sparse row (CSR) form, with labels ``y``."""
        return cls.collect(Rows.from_csr(X, y, importances, space=space))

    @property
    def space(self) -> FeatureSpace:
        """The feature space that the examples were read for."""
        return FeatureSpace.from_json(self.core.space)

    def __len__(self) -> int:
        return len(self.core)


def shuffled(count: int, seed: int, number: int) -> NDArray[np.uint32]:
    """A random order of ``count`` examples; the three arguments determine it."""
    return np.random.default_rng([seed, number]).permutation(count).astype(np.uint32)


def _as_labelled(rows: Rows) -> Rows:
    """Rows whose space says so where there are no labels, since examples do not remember it."""
    if rows.labels is not None:
        return rows
    space = rows.space.unlabelled()
    matrix = rows.indptr, rows.indices, rows.values
    return Rows(*matrix, None, rows.importances, bases=rows.bases, space=space)


def _as_read(owner: FeatureSpace | HasSpace) -> FeatureSpace:
    """The space of values as they stand; a source that has one was read for it."""
    return replace(space_of(owner), scale="none")


def _floats(numbers: ArrayLike | None) -> NDArray[np.float64] | None:
    return None if numbers is None else np.ascontiguousarray(numbers, dtype=np.float64)


def _typed(array: ArrayLike, narrow: type, wide: type) -> NDArray[Any]:
    """The array in place if it has one of two types, else as the wider of them."""
    given = np.asarray(array)
    dtype = given.dtype if given.dtype in (narrow, wide) else wide
    return np.ascontiguousarray(given, dtype=dtype)
