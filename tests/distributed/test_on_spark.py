"""Spark as the engine: the same bits whatever dies, predictions, and streams."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from lessregret import Learner, LessRegretError, SpecError
from lessregret.distributed import in_process, learn_batches, predict, train
from tests.support.killed_intervals import killed_once

pyspark: Any = pytest.importorskip("pyspark", reason="PySpark is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL"),
    pytest.mark.skipif(shutil.which("java") is None, reason="there is no Java"),
    # PySpark warns of new versions of pandas and leaves sockets open.
    pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
ROOT = Path(__file__).parents[2]
COLUMNS = ["id", "age", "city", "bought"]
RUN: dict[str, Any] = {"label": "bought", "columns": {"ignore": ["id"]}, "workers": 3, "syncs": 2}


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    from pyspark.sql import SparkSession

    # Workers import the killed intervals from the tests.
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    builder = SparkSession.builder.master("local[3,4]").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.shuffle.partitions", "3").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def frame(spark: Any) -> Any:
    def row(k: int) -> tuple[int, int, str, str]:
        return k, 20 + k % 50, "Rome" if k % 3 else "Oslo", "yes" if k % 3 and k % 50 > 9 else "no"

    return spark.createDataFrame([row(k) for k in range(1200)], COLUMNS)


@pytest.fixture(scope="module")
def learned(frame: Any) -> bytes:
    return train(frame, **RUN).to_bytes()


def test_partitions_are_learned_as_their_rows_in_one_process(frame: Any, learned: bytes) -> None:
    from lessregret.distributed.on_spark import _dealt
    from lessregret.distributed.pieces import ArrowRows
    from lessregret.distributed.run import Plan, run

    model = Learner.from_bytes(learned)
    assert model.tally().rounds == 1200
    start = Learner(model.spec["loss"], bits=22, schema=model.space.schema)
    dealt = _dealt(frame, 6).withColumn("part", pyspark.sql.functions.spark_partition_id())
    tables = [dealt.where(dealt.part == k).drop("part").toArrow() for k in range(6)]
    here = run(Plan([ArrowRows(table) for table in tables], 3, in_process), start)
    assert here.to_bytes() == learned


def test_a_killed_worker_changes_no_bit(frame: Any, learned: bytes, tmp_path: Path) -> None:
    from lessregret.distributed.on_spark import SparkFrame

    mark = tmp_path / "killed"
    disturbed = SparkFrame(frame, interval=partial(killed_once, mark))
    assert train(disturbed, **RUN).to_bytes() == learned
    assert mark.exists()


def test_a_stopped_run_goes_on_to_the_same_bits(frame: Any, learned: bytes, tmp_path: Path) -> None:
    def stop(_: str) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        train(frame, checkpoint=tmp_path / "kept", progress=stop, **RUN)
    assert [path.name for path in (tmp_path / "kept").glob("*.model")] == ["1.model"]
    assert train(frame, checkpoint=tmp_path / "kept", **RUN).to_bytes() == learned


def test_predictions_are_those_of_the_model(frame: Any, learned: bytes) -> None:
    from scipy.special import expit

    from lessregret import open_table

    model = Learner.from_bytes(learned)
    rows = predict(model, frame.drop("bought")).toArrow()
    assert rows.column_names == ["id", "age", "city", "prediction"]
    margins = model.predict(open_table(rows, model.space.unlabelled())).margins
    assert rows["prediction"].to_pylist() == expit(margins).tolist()
    with pytest.raises(SpecError, match="column 'age' already"):
        predict(model, frame, column="age")


def test_a_batch_that_comes_again_is_not_learned_again(
    frame: Any, learned: bytes, tmp_path: Path
) -> None:
    model = Learner.from_bytes(learned)
    start = Learner(model.spec["loss"], bits=22, schema=model.space.schema)
    frame.where("id < 600").write.parquet(f"{tmp_path}/in/a")
    frame.where("id >= 600").write.parquet(f"{tmp_path}/in/b")
    learn = learn_batches(tmp_path / "models", start=start)

    def twice(batch: Any, number: int) -> None:
        learn(batch, number)
        learn(batch, number)

    stream = frame.sparkSession.readStream.schema(frame.schema).parquet(f"{tmp_path}/in/*")
    writer = stream.writeStream.foreachBatch(twice).trigger(availableNow=True)
    query = writer.option("checkpointLocation", f"{tmp_path}/offsets").start()
    assert query.awaitTermination(300)
    [kept] = (tmp_path / "models").glob("*.model")
    assert Learner.load(kept).tally().rounds == 1200


def test_errors_are_those_of_the_data(frame: Any, spark: Any) -> None:
    with pytest.raises(SpecError, match="no column 'bough'"):
        train(frame, label="bough")
    with pytest.raises(SpecError, match="learned by Spark"):
        train(frame, engine=in_process, **RUN)
    model = train(frame, **RUN)
    with pytest.raises(LessRegretError, match="city"):
        train(frame.drop("city"), start=model, workers=1, syncs=1)
