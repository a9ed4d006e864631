"""Training on files, as the command ``lessregret train`` does.

    files ─open_examples─▶ blocks of examples ─Learner.learn─▶ outcomes ─▶ recorder, predictions
                                                    │
                                                  ledger ─▶ Training, model file

Blocks end where progress is reported (at powers of two) and where the recorder adds a point to its
curve. The model does not depend on where blocks end.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from numbers import Integral
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from lessregret.data.column_choices import ColumnChoices
from lessregret.data.files import Output, check_files
from lessregret.data.given import GivenData, given_data
from lessregret.data.output import open_text_output
from lessregret.data.streams import Data, ExampleStream
from lessregret.errors import InputError, SpecError
from lessregret.learners.fill import fill_of
from lessregret.learners.learner import Learner
from lessregret.learners.losses import loss_named
from lessregret.learners.namespaces import check_same, namespaces_of
from lessregret.learners.rules import Rule, parse_rule
from lessregret.ledger import Ledger
from lessregret.training.progressive import Progressive, ProgressiveClasses, RunMetrics
from lessregret.training.recorder import Recorder, Unrecorded
from lessregret.training.run_warnings import Finding, run_warnings
from lessregret.training.saving import SaveInterval, Saver
from lessregret.training.watchers import Watcher, watcher_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BLOCK = 1 << 16
"""Examples learned in one call: about a tenth of a second of click lines, so that an interrupt is
answered soon. Between two calls one core has nothing to do."""
BITS = 22
"""Bits of a new model, unless others are asked for: four million slots, 32 MB at one rate."""
BYTES_OF_A_FEATURE = 12
"""in text, more or less; what is packed has more features than this says"""


class Training(NamedTuple):
    """The result of :func:`train`."""

    learner: Learner
    ledger: Ledger
    """the losses and the regret at the end, including those of earlier runs of a resumed model"""
    data: tuple[str, ...]
    """the names of the files"""
    passes: int
    skipped: int
    """the number of bad lines that were skipped in the last pass"""
    first_skipped: str | None
    """the error in the first skipped line"""
    seconds: float
    model: str | None
    """the name of the model file that was written"""
    resumed: str | None
    """the name of the model file that training continued from"""
    recorder: Recorder | None
    """the data of the report; None unless the run was recorded"""
    warnings: tuple[Finding, ...] = ()
    """what went badly, and what to do; empty for a good run"""
    metrics: RunMetrics | None = None
    """the scores of the predictions of this run, each made before its example was learned"""

    @property
    def examples_per_second(self) -> float:
        """The examples of this run, of all passes, divided by the seconds it took."""
        metrics, rounds = self.metrics, self.ledger.rounds
        examples = rounds if metrics is None else metrics.all.sums.examples
        return examples / self.seconds if self.seconds > 0 else 0.0

    def as_dict(self) -> dict[str, Any]:
        """The JSON document of ``lessregret train --json`` as a dict."""
        ledger, spec = self.ledger, self.learner.spec
        window = None if self.recorder is None else self.recorder.window
        return {
            "examples": ledger.rounds,
            "features": ledger.tally.features,
            "loss": spec["loss"],
            **self._classes(),
            "rule": spec["rule"]["name"],
            "mean_loss": ledger.mean_loss,
            "metrics": None if self.metrics is None else self.metrics.as_dict(),
            "mean_penalty": ledger.mean_penalty,
            "mistake_rate": ledger.mistake_rate,
            "game": ledger.game,
            "standardised_loss": ledger.tally.standardised_loss,
            "statement": None if ledger.statement is None else ledger.statement.as_dict(),
            "bound": ledger.bound,
            "theorem": ledger.theorem,
            "linear_regret": ledger.linear_regret,
            "window": None if window is None else window.as_dict(),
            "touched": ledger.summary.touched,
            "mixing_cost": ledger.mixing_cost,
            "lanes": [lane._asdict() for lane in ledger.lanes],
            "stack": None if ledger.stack is None else ledger.stack._asdict(),
            "importance": ledger.tally.importance,
            "skipped": ledger.skipped,
            "warnings": [finding.in_shell for finding in self.warnings],
            "seconds": round(self.seconds, 3),
            "model": self.model,
            "spec": spec,
        }

    def _classes(self) -> dict[str, Any]:
        """The names of many classes; nothing for two classes and for numbers."""
        names = self.learner.class_names
        return {} if names is None else {"classes": names}


def train(
    data: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | Data | Any = (),
    *,
    label: str | None = None,
    columns: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    query: str | None = None,
    table: str | None = None,
    loss: str | None = None,
    rule: Rule | str | None = None,
    bits: int | None = None,
    intercept: bool | None = None,
    certify: bool | None = None,
    l2: float | None = None,
    scale: str | None = None,
    importance_aware: bool | None = None,
    fixed_share: float | None = None,
    crosses: Sequence[str | Sequence[str]] | None = None,
    keep: str | Sequence[str] | None = None,
    ignore: str | Sequence[str] | None = None,
    classes: str | int | Sequence[int | str] | None = None,
    passes: int = 1,
    model: str | os.PathLike[str] | None = None,
    slim: bool = False,
    resume: str | os.PathLike[str] | Learner | None = None,
    predictions: str | os.PathLike[str] | IO[str] | None = None,
    names: bool = False,
    negatives_kept: float = 1.0,
    format: str = "auto",
    bad_lines: str = "stop",
    unlabelled: str = "error",
    threads: int | None = None,
    save_every: int | str | None = None,
    record: bool = False,
    by: str | Sequence[str] = (),
    progress: Callable[[str], object] | Watcher | None = None,
    progress_every: int | None = None,
) -> Training:
    """Train a model on a table or on files. Each example is predicted before it is learned.

    Parameters
    ----------
    data : names of files, or a table
        The training data. Tables are CSV, TSV, Parquet, JSON lines, Arrow, DuckDB and SQLite files,
        and every object with the Arrow C stream interface: data frames of pandas and polars, tables
        and readers of pyarrow, relations of DuckDB. Other files are LIBSVM/svmlight or Vowpal
        Wabbit text. Text may be compressed with gzip, zstd or xz; ``"-"`` is standard input.
    label : str, optional
        For a table: the column to predict. What the other columns are is inferred from the first
        10,000 rows. If ``loss`` is not given, it follows from the labels: logistic for two
        different ones, squared for numbers.
    columns : dict, or the name of a TOML file, optional
        For a table: what is not to be inferred, as in ``{"category": ["zip"], "ignore": ["id"]}``;
        :class:`~lessregret.data.column_choices.ColumnChoices` has the words.
    query : str, optional
        A SELECT that DuckDB runs, in which names of files in quotes are tables; ``data`` are then
        DuckDB files whose tables it may name.
    table : str, optional
        The table to read, if ``data`` is a database with several.
    loss, rule, bits, intercept, certify, l2, scale, importance_aware, fixed_share
        The parameters of :class:`~lessregret.Learner`. The default of ``bits`` is 22. A rule may
        also be a string as on the command line, ``"ftrl:l1=0.5"``. With ``resume`` the model fixes
        these parameters; a value that differs from the model's raises a SpecError.
    crosses, keep, ignore
        The namespaces of Vowpal Wabbit text that are crossed, read, and not read: the parameters of
        :class:`~lessregret.Namespaces`. ``crosses=["user*hour"]`` has a feature for every pair of a
        user and an hour. With ``resume`` the model fixes them, too.
    classes : "auto", int, or list, optional
        For more than two classes. In text a class is a whole number: 20 means the classes 1 to 20.
        In a table a list has the names of the classes; without it, the labels of the first 10,000
        rows are the classes, if there are more than two and they are words. ``"auto"`` finds
        classes of text as they come; each counts from its first example on.
    negatives_kept : number above 0 and at most 1, default 1
        For data of two classes of which only this fraction of the negatives was kept, at random:
        each of them has 1/negatives_kept times its importance, so that probabilities are those of
        all data.
    passes : int from 1 up, default 1
        The number of passes over the files. The ledger includes the examples of all passes.
    model : the name of a file, optional
        The file to write the model to at the end.
    slim : bool, default False
        Whether to write only the nonzero weights to the model file. Such a file can be used to
        predict but not to continue training.
    resume : the name of a model file, or a Learner, optional
        The model to continue training from. The result is the same as if training had never
        stopped.
    predictions : the name of a file, or a file open for text, optional
        The file to write one prediction per line to. Each is made before the model learns from the
        example.
    names : bool, default False
        Whether to store the feature names in the model. This uses more memory and time.
    format, bad_lines, unlabelled, threads
        The parameters of :func:`~lessregret.open_examples`. With ``unlabelled="predict"`` an
        example without a label is predicted and not learned from.
    save_every : int or str, optional
        How often the model is written to its file while the run goes on: ``10000`` is every 10,000
        examples that were learned, ``"60s"`` (or ``"5m"``, ``"1h"``) a time. The file is always a
        whole model. Names of features are in the file at the end.
    record : bool, default False
        Whether to record the data that :func:`lessregret.report.train_report` shows.
    by : name or names, default none
        The columns of a table whose values are slices: ``Training.metrics.slices`` has the scores
        of each. In Vowpal Wabbit text a name is that of a namespace, whose features are the value.
    progress : function, optional
        A function that is called with a line of text whenever the number of examples reaches a
        power of two, and at the end. ``progress=print`` prints these lines.
    progress_every : int from 1 up, optional
        Call ``progress`` at every so many examples in place of powers of two.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     log = Path(folder, "log.vw")
    ...     _ = log.write_text("1 |word ham\\n-1 |word spam\\n" * 50)
    ...     training = train(log, bits=10, progress=print)
    1 example, mean loss 0.6931
    2 examples, mean loss 0.9960
    4 examples, mean loss 0.8358
    8 examples, mean loss 0.6363
    16 examples, mean loss 0.3846
    32 examples, mean loss 0.2098
    64 examples, mean loss 0.1122
    100 examples, mean loss 0.0745
    >>> training.ledger.rounds
    100
    """
    started = time.perf_counter()
    choices = _choices(columns, label)
    given = given_data(data, query=query, table=table, format=format, choices=choices)
    if negatives_kept != 1:
        given.negatives_kept = negatives_kept
    if given.has_columns:
        given.choices = _crossed(given.choices, crosses, ignore)
        crosses = ignore = None
    files = given.files
    settings = {
        "loss": loss,
        "rule": parse_rule(rule) if isinstance(rule, str) else rule,
        "bits": bits,
        "intercept": intercept,
        "certify": certify,
        "l2": l2,
        "scale": scale,
        "importance_aware": importance_aware,
        "fixed_share": fixed_share,
        "namespaces": namespaces_of(crosses, keep, ignore),
    }
    _check(files, passes, model, slim)
    _check_progress(progress_every)
    interval = _save_interval(save_every, model)
    _check_files(files, resume, model, predictions)
    asked: dict[str, Any] = {name: value for name, value in settings.items() if value is not None}
    if given.has_columns and resume is None:
        inferred = given.infer(loss, names_of_classes(classes))
        asked |= {"schema": inferred.schema, "loss": inferred.loss}
    if classes is not None and resume is None:
        asked |= codes_of_classes(classes, given.has_columns)
    learner = _learner(asked, resume)
    before = learner.tally()
    is_many = learner.classes is not None
    calibrates = not is_many and loss_named(learner.spec["loss"]).link == "probability"
    by = _names(by)
    progressive = _progressive(learner, before.rounds, by)
    recorder = Recorder(before, progressive, calibrates=calibrates) if record else None
    reading = {"bad_lines": bad_lines, "names": names, "threads": threads, "by": by}
    reading["unlabelled"] = unlabelled
    # Before the output is opened, since it imports, and an interrupt may get lost during an import.
    lines = None if predictions is None else _lines_of(learner)
    saver = Saver(learner, model, slim, interval)
    with _opened(predictions) as file, saver:
        write = _writer(lines, file, flushes=given.is_endless)
        recording = recorder or Unrecorded(before, progressive)
        run = _Run(learner, recording, watcher_of(progress), write, progress_every, saver)
        stream = run.learn(given, passes, reading)
        ledger = learner.ledger()
        run.watcher.checkpoint(ledger.tally, lambda: ledger)
    if recorder is not None:
        recorder.finish(learner, ledger)
    if model is not None:
        learner.save(model, slim=slim)
    return Training(
        learner=learner,
        ledger=ledger,
        data=tuple(files) or (given.name,),
        passes=passes,
        skipped=stream.skipped,
        first_skipped=stream.first_skipped,
        seconds=time.perf_counter() - started,
        model=None if model is None else os.fspath(model),
        resumed=None if resume is None or isinstance(resume, Learner) else os.fspath(resume),
        recorder=recorder,
        # The best constant of many classes is not known: `training/run_warnings.py`.
        warnings=()
        if is_many
        else run_warnings(learner.spec, ledger, run.recorder.late.part(), fill_of(learner)),
        metrics=progressive.metrics(),
    )


def _progressive(learner: Learner, before: int, by: list[str]) -> Progressive | ProgressiveClasses:
    """What adds up the metrics of the run."""
    if learner.classes is None:
        return Progressive(learner.spec["loss"], before, by)
    if by:
        raise SpecError("slices have scores of two classes or of numbers; leave out by")
    return ProgressiveClasses(learner)


class _Run(NamedTuple):
    """A learner led through files, and who is told of it."""

    learner: Learner
    recorder: Unrecorded
    watcher: Watcher
    write: Callable[[NDArray[np.float64]], None] | None
    every: int | None
    """how many examples are between two checkpoints; None for powers of two"""
    saver: Saver

    def learn(self, given: GivenData, passes: int, reading: dict[str, Any]) -> ExampleStream:
        """All passes over the data; the last stream, for what it says of skipped lines."""
        self.learner.expect((given.total_bytes or 0) * passes // BYTES_OF_A_FEATURE)
        done = rounds = 0
        for _ in range(passes):
            stream = given.open(self.learner, **reading)
            before = self.learner.tally().rounds
            for _ in self._blocks(stream):
                self.watcher.advance(done + stream.bytes_read, self.learner.tally())
            done += stream.bytes_read
            rounds += self.learner.tally().rounds - before
            self.learner.keep_names(stream)
        if rounds == 0:
            raise _no_examples(given.name, stream)
        return stream

    def _blocks(self, stream: ExampleStream) -> Iterator[int]:
        """Learn in blocks, cut at checkpoints and at the recorder's points; their sizes."""
        learner, recorder = self.learner, self.recorder
        rounds = learner.tally().rounds
        while True:
            checkpoint, next_mark = self._checkpoint(rounds), recorder.next_mark(rounds)
            next_save = self.saver.next_save(rounds)
            limit = min(BLOCK, checkpoint - rounds, next_mark - rounds, next_save - rounds)
            count = recorder.learn(learner, stream, limit, self.write)
            if count == 0:
                return
            # Examples without labels are predicted and are no rounds.
            rounds = learner.tally().rounds
            if rounds == next_save:
                self.saver.save()
            if rounds == next_mark:
                recorder.mark(learner.ledger())
            if rounds == checkpoint:
                self.watcher.checkpoint(learner.tally(), learner.ledger)
            yield count

    def _checkpoint(self, rounds: int) -> int:
        """The next number of rounds at which the watcher is told of the losses."""
        if self.every is None:
            return 1 << rounds.bit_length()
        return rounds + self.every - rounds % self.every


def _names(by: str | Sequence[str]) -> list[str]:
    return [by] if isinstance(by, str) else list(by)


def names_of_classes(classes: str | int | Sequence[int | str] | None) -> list[str] | None:
    """The names of the classes of a table; none for "auto", and None if nothing is asked for."""
    if classes is None:
        return None
    if isinstance(classes, Integral):
        raise SpecError("classes: a table has names of classes, not a number; give a list of them")
    return [] if classes == "auto" else [str(name) for name in classes]  # type: ignore[union-attr]


def codes_of_classes(classes: Any, has_columns: bool) -> dict[str, Any]:
    """The classes of a learner of text, or of a table if its classes count as they come."""
    if has_columns:
        return {"classes": "auto"} if classes == "auto" else {}
    if isinstance(classes, str | Integral):
        return {"classes": classes}
    try:
        return {"classes": [int(code) for code in classes]}
    except ValueError:
        found = ", ".join(map(str, classes))
        raise SpecError(
            f"classes: in text a class is a whole number, its label; found {found}"
        ) from None


def _choices(
    columns: Mapping[str, Any] | str | os.PathLike[str] | None, label: str | None
) -> ColumnChoices:
    """What the user says of columns."""
    said = ColumnChoices(label=label)
    if isinstance(columns, str | os.PathLike):
        return said.over(ColumnChoices.read(columns))
    return said if columns is None else said.over(ColumnChoices.of(columns))


def _crossed(choices: ColumnChoices, crosses: Any, ignore: Any) -> ColumnChoices:
    """Crosses and what is ignored are about columns, if the data are a table."""
    words = [cross if isinstance(cross, str) else "*".join(cross) for cross in crosses or ()]
    ignored = [ignore] if isinstance(ignore, str) else ignore or ()
    return ColumnChoices(cross=tuple(words), ignore=tuple(ignored)).over(choices)


def _check(files: list[str], passes: int, model: str | os.PathLike[str] | None, slim: bool) -> None:
    if passes < 1:
        raise SpecError(f"passes must be a whole number from 1 up, found {passes!r}")
    if "-" in files and passes > 1:
        raise SpecError("standard input can be read only once; use one pass, or a file")
    if slim and model is None:
        raise SpecError("slim says how to write a model; say where with model")


def _check_progress(progress_every: int | None) -> None:
    if progress_every is not None and progress_every < 1:
        found = repr(progress_every)
        raise SpecError(f"progress_every must be a whole number from 1 up, found {found}")


def _save_interval(
    save_every: int | str | None, model: str | os.PathLike[str] | None
) -> SaveInterval | None:
    """How often the model is written while the run goes on."""
    interval = None if save_every is None else SaveInterval.parse(save_every)
    if interval is not None and model is None:
        raise SpecError("save_every says how often to write a model; say where with model")
    return interval


def _check_files(
    files: list[str],
    resume: str | os.PathLike[str] | Learner | None,
    model: str | os.PathLike[str] | None,
    predictions: str | os.PathLike[str] | IO[str] | None,
) -> None:
    """A file that is missing or would be overwritten is told before the first is opened."""
    outputs = []
    if model is not None:
        outputs.append(Output("model", "the model", os.fspath(model), may_replace_model=True))
    if isinstance(predictions, str | os.PathLike):
        path = os.fspath(predictions)
        outputs.append(Output("predictions", "the predictions", path, may_be_direct=True))
    models = [os.fspath(resume)] if isinstance(resume, str | os.PathLike) else []
    check_files(files, models, outputs)


def _learner(settings: dict[str, Any], resume: str | os.PathLike[str] | Learner | None) -> Learner:
    if resume is None:
        return Learner(**{"bits": BITS, **settings})
    learner = resume if isinstance(resume, Learner) else Learner.load(resume)
    check_same(settings.pop("namespaces", None), learner.space.namespaces, "the model")
    _check_resumed(learner.spec, settings)
    return learner


def _check_resumed(spec: dict[str, Any], settings: dict[str, Any]) -> None:
    """What a model fixes may be repeated, not changed."""
    held = {**spec, "bits": spec["table"].get("bits")}
    for name, asked in settings.items():
        asked = asked.spec() if isinstance(asked, Rule) else asked
        if asked != held[name]:
            raise SpecError(
                f"{name} is {asked!r}, but the model was trained with {held[name]!r}; leave it "
                "out, or train a new model"
            )


def _no_examples(named: str, stream: ExampleStream) -> InputError:
    """A run that met no example has nothing to show; it is the wrong file, or an empty one."""
    skipped = f", but {stream.skipped:,} bad lines; the first: {stream.first_skipped}"
    found = "none" + (skipped if stream.skipped else "")
    return InputError(named, 0, 0, found, "at least one example")


def _opened(
    predictions: str | os.PathLike[str] | IO[str] | None,
) -> AbstractContextManager[IO[str] | None]:
    if isinstance(predictions, str | os.PathLike):
        return open_text_output(predictions)
    return nullcontext(predictions)


def _lines_of(learner: Learner) -> Callable[[NDArray[np.float64]], Iterator[str]]:
    """What turns margins into lines of predictions."""
    from lessregret.training.predictions import as_lines, link

    if learner.classes is not None:
        from lessregret.training.class_predictions import class_lines

        return lambda margins: class_lines(margins, learner.class_names or [], "auto")
    link_function = link(learner.spec["loss"])
    return lambda margins: as_lines(link_function(margins))


def _writer(
    lines: Callable[[NDArray[np.float64]], Iterator[str]] | None,
    file: IO[str] | None,
    *,
    flushes: bool,
) -> Callable[[NDArray[np.float64]], None] | None:
    """What writes predictions; it flushes if the input may pause and somebody may wait for them."""
    if lines is None or file is None:
        return None

    def write(margins: NDArray[np.float64]) -> None:
        file.writelines(lines(margins))
        if flushes:
            file.flush()

    return write
