import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "LOSSES",
    "MAX_BITS",
    "MAX_COLUMNS",
    "RULES",
    "ArrowWriter",
    "AtomicFile",
    "ClassMetrics",
    "Columns",
    "Examples",
    "JsonReader",
    "Learner",
    "Metrics",
    "Outcomes",
    "Problem",
    "Rows",
    "Slices",
    "Stream",
    "SumsMark",
    "Table",
    "__version__",
    "cross_rows",
    "hash_features",
    "learn_many",
    "ordered_namespaces",
    "peek_line",
    "read_model_header",
    "sample_table",
    "split_cells",
]

__version__: str
LOSSES: list[str]
RULES: list[str]
MAX_BITS: int
MAX_COLUMNS: int

_CertificateParts: TypeAlias = tuple[
    float, tuple[float, float, float], tuple[float, float, float], float, float
]

_ExplanationParts: TypeAlias = tuple[
    float, float, bytes, list[tuple[int, float, float, float]], float, float | None, float
]

class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...

@final
class Stream:
    def __new__(
        cls,
        files: Sequence[str | os.PathLike[str] | _Readable],
        space: str,
        *,
        format: str = "auto",
        bad_lines: str = "stop",
        names: bool = False,
        threads: int | None = None,
        delimiter: str = ",",
        header: bool = True,
        column_names: Sequence[str] | None = None,
        by: Sequence[str] = ...,
        unlabelled: bool = False,
        follow: bool = False,
    ) -> Stream: ...
    @staticmethod
    def over_table(
        table: Table,
        space: str,
        *,
        bad_lines: str = "stop",
        names: bool = False,
        threads: int | None = None,
        by: Sequence[str] = ...,
        unlabelled: bool = False,
    ) -> Stream: ...
    def stop(self) -> None: ...
    @property
    def ignored_columns(self) -> list[str]: ...
    @property
    def space(self) -> str: ...
    @property
    def skipped(self) -> int: ...
    @property
    def first_skipped(self) -> str | None: ...
    @property
    def bytes_read(self) -> int: ...
    def negatives_kept(self, kept: float) -> None: ...
    def name(self, slot: int) -> tuple[str, bool] | None: ...
    def read(
        self, limit: int, zeros: bool = False
    ) -> tuple[
        NDArray[np.int64],
        NDArray[np.uint32],
        NDArray[np.float32],
        NDArray[np.float32],
        NDArray[np.float32],
        NDArray[np.float32],
        list[bytes],
    ]: ...

@final
class Table:
    def __new__(cls, object: object, name: str) -> Table: ...
    @staticmethod
    def of_texts(
        names: Sequence[str], batches: Iterator[Sequence[Sequence[str | None]]], name: str
    ) -> Table: ...
    @property
    def columns(self) -> list[tuple[str, str]]: ...
    def sample(self, missing: Sequence[str], rows: int = 10_000) -> str: ...

@final
class ArrowWriter:
    def __new__(cls, path: str | os.PathLike[str], stream: Stream) -> ArrowWriter: ...
    def take(self, stream: Stream, limit: int) -> int: ...
    def finish(self) -> tuple[int, int, int]: ...
    def discard(self) -> None: ...

@final
class AtomicFile:
    def __new__(cls, path: str | os.PathLike[str]) -> AtomicFile: ...
    def write(self, content: bytes) -> None: ...
    def finish(self) -> None: ...
    def discard(self) -> None: ...

@final
class Examples:
    @staticmethod
    def from_stream(stream: Stream, limit: int | None = None) -> Examples: ...
    @staticmethod
    def from_rows(rows: Rows) -> Examples: ...
    def __len__(self) -> int: ...
    @property
    def space(self) -> str: ...

@final
class JsonReader:
    def __new__(cls, space: str) -> JsonReader: ...
    def read(self, body: bytes, lines: bool, most: int) -> tuple[Examples, bool] | None: ...

@final
class Rows:
    def __new__(
        cls,
        space: str,
        indptr: NDArray[Any],
        indices: NDArray[Any],
        values: NDArray[Any],
        labels: NDArray[np.float64] | None = None,
        importances: NDArray[np.float64] | None = None,
        bases: NDArray[np.float64] | None = None,
    ) -> Rows: ...
    @property
    def space(self) -> str: ...

@final
class Outcomes:
    def __len__(self) -> int: ...
    @property
    def classes(self) -> int | None: ...
    @property
    def margins(self) -> NDArray[np.float64]: ...
    @property
    def labels(self) -> NDArray[np.float32]: ...
    @property
    def importances(self) -> NDArray[np.float32]: ...
    @property
    def tags(self) -> list[bytes]: ...
    def label_sums(self) -> tuple[float, float, float]: ...

_SumsParts = tuple[int, float, float, float, float, float, float, float, float]
_Cells = list[tuple[int, float, float, float, float, float]]

@final
class Metrics:
    def __new__(cls, loss: str) -> Metrics: ...
    @staticmethod
    def restored(loss: str, sums: _SumsParts, cells: _Cells) -> Metrics: ...
    def __reduce__(self) -> tuple[Any, tuple[str, _SumsParts, _Cells]]: ...
    def add(self, outcomes: Outcomes) -> None: ...
    def add_arrays(
        self,
        margins: NDArray[np.float64],
        labels: NDArray[np.float32],
        importances: NDArray[np.float32],
    ) -> None: ...
    def mark(self) -> None: ...
    def sums(self, end: bool) -> _SumsParts: ...
    def area(self, end: bool) -> tuple[float, float] | None: ...

_ClassParts = tuple[
    int,
    float,
    float,
    list[float],
    list[float],
    list[float],
    list[float],
    list[tuple[int, int, float]],
]

@final
class ClassMetrics:
    def __new__(cls, loss: str) -> ClassMetrics: ...
    def add(self, outcomes: Outcomes, codes: list[int]) -> None: ...
    def add_arrays(
        self,
        codes: list[int],
        margins: NDArray[np.float64],
        labels: NDArray[np.float32],
        importances: NDArray[np.float32],
    ) -> None: ...
    def mark(self) -> None: ...
    def sums(self, end: bool) -> _ClassParts: ...

@final
class Slices:
    def __new__(cls, loss: str, columns: int) -> Slices: ...
    def add(self, outcomes: Outcomes) -> None: ...
    def column(self, number: int) -> tuple[list[tuple[bytes, _SumsParts]], _SumsParts]: ...

_TallyParts = tuple[int, int, float, float, float, float, float, float, float | None]
_SummaryParts = tuple[
    float | None,
    float | None,
    float | None,
    int,
    float | None,
    list[
        tuple[
            float | None,
            float,
            float,
            float,
            float,
            float | None,
            float,
            float | None,
        ]
    ],
    tuple[float, float, float] | None,
    _CertificateParts | None,
]

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
    @staticmethod
    def merge(start: Learner, shards: list[Learner], how: str, players: int) -> Learner: ...
    def name_many_classes(self, names: list[str]) -> None: ...
    def add_classes(self, codes: list[int]) -> None: ...
    def classes(self) -> list[int] | None: ...
    def class_weights(self, slot: int) -> list[float]: ...
    def name_classes(self, negative: str | None, positive: str) -> None: ...
    @property
    def spec(self) -> str: ...
    @property
    def space(self) -> str: ...
    @property
    def skipped(self) -> int: ...
    def expect(self, features: int) -> None: ...
    def learn(
        self,
        source: Stream | Examples | Rows,
        limit: int | None = None,
        order: NDArray[np.uint32] | None = None,
    ) -> Outcomes: ...
    def predict(
        self,
        source: Stream | Examples | Rows,
        limit: int | None = None,
        order: NDArray[np.uint32] | None = None,
    ) -> Outcomes: ...
    def explain(
        self,
        source: Stream | Examples | Rows,
        limit: int | None = None,
        order: NDArray[np.uint32] | None = None,
    ) -> list[_ExplanationParts]: ...
    def learn_one(
        self, features: Mapping[str, Any], label: float, importance: float = 1.0
    ) -> float | None: ...
    def predict_one(self, features: Mapping[str, Any]) -> float | None: ...
    @property
    def learns_late(self) -> bool: ...
    def play_late(self, examples: Examples) -> list[tuple[float, bytes]]: ...
    def learn_late(self, examples: Examples, kept: Sequence[bytes]) -> Outcomes: ...
    def tally(self) -> _TallyParts: ...
    def totals(self) -> tuple[_TallyParts, _SummaryParts, int]: ...
    def certificate(self, since: SumsMark) -> _CertificateParts | None: ...
    def mark_sums(self) -> SumsMark | None: ...
    def gradient_sums(self) -> tuple[NDArray[np.uint32], NDArray[np.float64]] | None: ...
    def fill(self) -> tuple[int, int, tuple[int, int] | None]: ...
    def weights(self) -> tuple[NDArray[np.uint32], NDArray[np.float32]]: ...
    def dense_weights(self) -> NDArray[np.float32]: ...
    def weight(self, slot: int) -> float: ...
    def keep_names(self, stream: Stream) -> None: ...
    def name(self, slot: int) -> tuple[str, bool] | None: ...

@final
class SumsMark: ...

def learn_many(
    learners: Sequence[Learner],
    source: Stream | Examples | Rows,
    limit: int | None = None,
    order: NDArray[np.uint32] | None = None,
    metrics: Sequence[Metrics] = ...,
) -> int: ...
def hash_features(names: Sequence[str], bits: int) -> NDArray[np.int64]: ...
def ordered_namespaces(namespaces: str) -> str: ...
def cross_rows(
    ends: NDArray[np.int64],
    slots: NDArray[np.int64],
    values: NDArray[np.float64],
    groups: int,
    crosses: Sequence[Sequence[int]],
    bits: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]: ...
def read_model_header(path: str | os.PathLike[str]) -> str: ...

@final
class Columns:
    def __new__(cls, slots: int) -> Columns: ...
    def meet(self, examples: Examples, count: int | None = None) -> None: ...
    def slots(self) -> NDArray[np.uint32]: ...
    def importances(self) -> NDArray[np.float64]: ...
    def rows(
        self, examples: Examples, count: int | None = None
    ) -> tuple[
        tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.float32]],
        NDArray[np.float32],
        NDArray[np.float32],
    ]: ...
    @property
    def total(self) -> float: ...

@final
class Problem:
    def __new__(
        cls, columns: Columns, examples: Examples, loss: str, count: int | None = None
    ) -> Problem: ...
    @property
    def rows(self) -> int: ...
    @property
    def has_bases(self) -> bool: ...
    def labelled(
        self,
    ) -> tuple[
        tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.float32]],
        list[NDArray[np.float64]],
    ]: ...
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

def sample_table(
    file: str | os.PathLike[str] | _Readable,
    *,
    delimiter: str = ",",
    header: bool = True,
    column_names: Sequence[str] | None = None,
    missing: Sequence[str] = ...,
    rows: int = 10_000,
    bad_lines: str = "stop",
) -> str: ...
def peek_line(file: str | os.PathLike[str] | _Readable | None, most: int) -> bytes: ...
def split_cells(text: bytes, delimiter: str = ",") -> list[list[bytes]]: ...
