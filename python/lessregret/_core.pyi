import os
from collections.abc import Sequence
from typing import Any, TypedDict, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "RULES",
    "ArrowWriter",
    "Columns",
    "Examples",
    "Learner",
    "Problem",
    "Stream",
    "__version__",
    "hash_features",
    "learn_stream_together",
    "read_model_header",
]

__version__: str
RULES: list[str]

class _Tally(TypedDict):
    rounds: int
    features: int
    importance: float
    loss: float
    mistakes: float
    played: float
    energy: float
    penalty: float

@final
class Stream:
    def __new__(
        cls,
        files: Sequence[str | os.PathLike[str]],
        *,
        bits: int,
        format: str = "auto",
        labels: str = "real",
        bad_lines: str = "stop",
        names: bool = False,
        scale: str = "none",
        threads: int | None = None,
    ) -> Stream: ...
    @property
    def skipped(self) -> int: ...
    @property
    def first_skipped(self) -> str | None: ...
    @property
    def bytes_read(self) -> int: ...
    def read(
        self, limit: int
    ) -> tuple[
        NDArray[np.int64],
        NDArray[np.uint32],
        NDArray[np.float32],
        NDArray[np.float32],
        NDArray[np.float32],
        list[bytes],
    ]: ...

@final
class ArrowWriter:
    def __new__(cls, path: str | os.PathLike[str], bits: int) -> ArrowWriter: ...
    @property
    def examples(self) -> int: ...
    @property
    def features(self) -> int: ...
    def take(self, stream: Stream, limit: int) -> int: ...
    def finish(self) -> int: ...
    def discard(self) -> None: ...

@final
class Learner:
    def __new__(
        cls,
        spec: str,
        low: NDArray[np.float32] | None = None,
        high: NDArray[np.float32] | None = None,
    ) -> Learner: ...
    @staticmethod
    def load(path: str | os.PathLike[str]) -> Learner: ...
    @staticmethod
    def from_bytes(content: bytes) -> Learner: ...
    def save(self, path: str | os.PathLike[str], slim: bool = False) -> None: ...
    def to_bytes(self) -> bytes: ...
    @property
    def slim(self) -> bool: ...
    @property
    def spec(self) -> str: ...
    @property
    def slots(self) -> int: ...
    @property
    def skipped(self) -> int: ...
    def expect(self, features: int) -> None: ...
    def teach_stream(self, stream: Stream, limit: int) -> int: ...
    def learn_stream(self, stream: Stream, limit: int) -> NDArray[np.float64]: ...
    def learn_labelled(
        self, stream: Stream, limit: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float32], NDArray[np.float32]]: ...
    def predict_stream(
        self, stream: Stream, limit: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float32], NDArray[np.float32], list[bytes]]: ...
    def learn_rows(
        self,
        indptr: NDArray[Any],
        indices: NDArray[Any],
        values: NDArray[Any],
        labels: NDArray[np.float64],
        importances: NDArray[np.float64] | None,
    ) -> NDArray[np.float64]: ...
    def predict_rows(
        self, indptr: NDArray[Any], indices: NDArray[Any], values: NDArray[Any]
    ) -> NDArray[np.float64]: ...
    def tally(self) -> _Tally: ...
    def standing(
        self,
    ) -> tuple[
        float | None,
        float | None,
        float | None,
        int,
        float | None,
        list[tuple[float, float, float, float, float, float | None, float | None, float]],
    ]: ...
    def weights(self) -> tuple[NDArray[np.uint32], NDArray[np.float32]]: ...
    def dense_weights(self) -> NDArray[np.float32]: ...
    def weight(self, slot: int) -> float: ...
    def keep_names(self, stream: Stream) -> None: ...
    def name(self, slot: int) -> tuple[str, bool] | None: ...

@final
class Examples:
    @staticmethod
    def from_stream(spec: str, stream: Stream, limit: int | None = None) -> Examples: ...
    @staticmethod
    def from_rows(
        spec: str,
        indptr: NDArray[Any],
        indices: NDArray[Any],
        values: NDArray[Any],
        labels: NDArray[np.float64],
        importances: NDArray[np.float64],
    ) -> Examples: ...
    def __len__(self) -> int: ...
    @property
    def slots(self) -> int: ...
    def teach(
        self, learner: Learner, order: NDArray[np.uint32] | None = None
    ) -> NDArray[np.float64]: ...
    def teach_together(
        self, learners: Sequence[Learner], order: NDArray[np.uint32] | None = None
    ) -> None: ...

def learn_stream_together(learners: Sequence[Learner], stream: Stream, limit: int) -> int: ...
def hash_features(names: Sequence[str], bits: int) -> NDArray[np.int64]: ...
def read_model_header(path: str | os.PathLike[str]) -> str: ...

@final
class Columns:
    def __new__(cls, slots: int) -> Columns: ...
    def meet(self, examples: Examples, count: int | None = None) -> None: ...
    def slots(self) -> NDArray[np.uint32]: ...
    def importances(self) -> NDArray[np.float64]: ...
    @property
    def total(self) -> float: ...

@final
class Problem:
    def __new__(
        cls, columns: Columns, examples: Examples, loss: str, count: int | None = None
    ) -> Problem: ...
    @property
    def rows(self) -> int: ...
    def evaluate(
        self, point: NDArray[np.float64], temperature: float, gradient: NDArray[np.float64]
    ) -> tuple[float, float, float, NDArray[np.float64]]: ...
    def diagonal(self, curvatures: NDArray[np.float64], diagonal: NDArray[np.float64]) -> None: ...
    def times(
        self,
        curvatures: NDArray[np.float64],
        direction: NDArray[np.float64],
        product: NDArray[np.float64],
    ) -> None: ...
