"""Examples kept in memory, to be learned from in many orders and by many learners.

They are hashed, checked and laid out once; learners that share them run on all cores, and each
holds afterwards the bits it would hold had it run alone.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from lessregret import _core
from lessregret.learners.learner import Learner


class Examples:
    """A set of examples for learners with one table, intercept and kind of label.

    >>> learner = Learner("hinge", columns=2, intercept=False)
    >>> examples = Examples.from_csr(csr_array([[1.0, 0.0], [0.0, 2.0]]), [1, -1], like=learner)
    >>> examples.teach([learner], order=[1, 0])
    >>> learner.ledger().rounds
    2
    """

    def __init__(self, core: _core.Examples) -> None:
        self.core = core

    @classmethod
    def from_stream(cls, stream: _core.Stream, like: Learner) -> Examples:
        """All that is left of a stream, for learners like this one."""
        return cls(_core.Examples.from_stream(json.dumps(like.spec), stream))

    @classmethod
    def from_csr(cls, X: csr_array, y: ArrayLike, like: Learner) -> Examples:
        """The rows of a sparse matrix with labels, for learners like this one."""
        labels = np.ascontiguousarray(y, dtype=np.float64)
        ones = np.ones(len(labels))
        spec = json.dumps(like.spec)
        return cls(_core.Examples.from_rows(spec, X.indptr, X.indices, X.data, labels, ones))

    def __len__(self) -> int:
        return len(self.core)

    def teach(self, learners: Sequence[Learner], order: ArrayLike | None = None) -> None:
        """Let all learners learn, in the order given or as the examples stand."""
        places = None if order is None else np.ascontiguousarray(order, dtype=np.uint32)
        self.core.teach_together([learner.core for learner in learners], places)


def learn_together(learners: Sequence[Learner], stream: _core.Stream, limit: int) -> int:
    """Read the next examples of a stream once and let all learners learn; how many there were."""
    return _core.learn_stream_together([learner.core for learner in learners], stream, limit)


def shuffled(count: int, seed: int, number: int) -> NDArray[np.uint32]:
    """The order of shuffle ``number`` under a seed; it depends on nothing else."""
    return np.random.default_rng([seed, number]).permutation(count).astype(np.uint32)
