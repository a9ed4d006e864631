"""Whether runs on Ray and Spark whose workers are killed end with the bits of undisturbed runs.

    python -m benchmarks.killed_engines [--engine ray|spark] [--times 20]

Ray: a cluster of three nodes on this machine. In every run a worker is killed (SIGKILL) in one
interval, and the node of another interval is removed while the interval runs. The undisturbed run
is one in a single process. Spark: ``local[3,4]``, three cores and up to four tries; in every run a
Python worker is killed in an interval. The undisturbed run is one on Spark, too. Which interval is
hit depends on which worker comes first.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

from lessregret import Learner
from lessregret.data.generate import ClickWorld, log_text
from lessregret.distributed import OnRay, in_process, train, train_interval
from tests.support.killed_intervals import held_once, killed_once, node_of

EXAMPLES = 20_000
BITS = 16
STORE = 100 << 20
ROOT = Path(__file__).parents[1]
RUN = {"workers": 6, "syncs": 4}


def main() -> None:
    """Run what was asked for and print a line for each run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.killed_engines")
    parser.add_argument("--engine", choices=("ray", "spark"), default="ray")
    parser.add_argument("--times", type=int, default=20)
    given = parser.parse_args()
    # Workers import what kills them from the tests.
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    with tempfile.TemporaryDirectory() as folder:
        same = {"ray": on_ray, "spark": on_spark}[given.engine](Path(folder), given.times)
    print(f"{same} of {given.times} disturbed runs ended with the bits of an undisturbed run")


def on_ray(folder: Path, times: int) -> int:
    """How many runs on Ray had the same bits."""
    import ray
    from ray.cluster_utils import Cluster

    log = folder / "log.vw"
    log.write_bytes(b"".join(log_text(ClickWorld(), EXAMPLES)))
    undisturbed = trained(log, in_process)
    node = {"num_cpus": 1, "object_store_memory": STORE}
    cluster = Cluster(initialize_head=True, head_node_args=node)
    for _ in range(2):
        cluster.add_node(**node)
    ray.init(address=cluster.address, logging_level="ERROR", log_to_driver=False)
    same = 0
    for number in range(1, times + 1):
        found = disturbed_on_ray(cluster, log, folder / str(number)) == undisturbed
        print(f"ray {number}: {'the same bits' if found else 'OTHER BITS'}", flush=True)
        same += found
        cluster.add_node(**node)
    ray.shutdown()
    cluster.shutdown()
    return same


def disturbed_on_ray(cluster: Any, log: Path, mark: Path) -> bytes:
    """A run in which one worker is killed and one node is removed."""
    killed, held = mark.with_suffix(".killed"), mark.with_suffix(".held")
    interval = partial(disturbed, killed, held, cluster.head_node.node_id)
    remover = Thread(target=remove_node, args=(cluster, held))
    remover.start()
    learned = trained(log, OnRay(cluster.address, interval=interval))
    remover.join()
    if not killed.exists():
        raise AssertionError("no worker was killed")
    return learned


def disturbed(killed: Path, held: Path, head: str, model: bytes, piece: Any) -> bytes:
    """An interval that may be killed, or wait for its node to be removed, each once in a run."""
    held_once(held, head, model, piece)
    return killed_once(killed, model, piece)


def remove_node(cluster: Any, held: Path) -> None:
    """Remove the node on which an interval waits for it."""
    waiting = node_of(held)
    [found] = [each for each in cluster.worker_nodes if each.node_id == waiting]
    cluster.remove_node(found, allow_graceful=False)


def on_spark(folder: Path, times: int) -> int:
    """How many runs on Spark had the same bits."""
    from pyspark.sql import SparkSession
    from pyspark.sql.functions import col, when

    builder = SparkSession.builder.master("local[3,4]").config("spark.ui.enabled", "false")
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    number = col("id")
    label = when(number % 3 + number % 7 > 4, "yes").otherwise("no").alias("label")
    words = [(number % size).cast("string").alias(f"w{size}") for size in (31, 977, 5003)]
    frame = spark.range(EXAMPLES).select(number, *words, label)
    undisturbed, same = trained_on_spark(frame, train_interval), 0
    for run in range(1, times + 1):
        mark = folder / f"{run}.killed"
        found = trained_on_spark(frame, partial(killed_once, mark)) == undisturbed
        if not mark.exists():
            raise AssertionError("no worker was killed")
        print(f"spark {run}: {'the same bits' if found else 'OTHER BITS'}", flush=True)
        same += found
    spark.stop()
    return same


def trained_on_spark(frame: Any, interval: Any) -> bytes:
    """The model of a run."""
    from lessregret.distributed.on_spark import SparkFrame

    columns = {"ignore": ["id"]}
    data = SparkFrame(frame, interval=interval)
    return train(data, label="label", columns=columns, workers=3, syncs=3).to_bytes()


def trained(log: Path, engine: Any) -> bytes:
    """The model of a run."""
    return train([log], start=Learner("logistic", bits=BITS), engine=engine, **RUN).to_bytes()


if __name__ == "__main__":
    main()
