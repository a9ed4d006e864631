"""Ray as the engine: the bits of one process whatever dies, and waits that end."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from lessregret import InputError, Learner, LessRegretError, SpecError
from lessregret.distributed import OnRay, in_process, train
from tests.support.killed_intervals import held_once, killed_once, node_of

# Without it Ray warns that it will stop to hide accelerators; there are none.
os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"
ray: Any = pytest.importorskip("ray", reason="Ray is not installed")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL"),
    # Ray's own code leaves files open and calls what it has deprecated.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
STORE = 100 << 20
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    from ray.cluster_utils import Cluster

    # Workers import the killed intervals from the tests.
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, **node()})
    for _ in range(2):
        made.add_node(num_cpus=1, **node())
    ray.init(address=made.address, logging_level="ERROR", log_to_driver=False)
    yield made
    ray.shutdown()
    made.shutdown()


def node() -> dict[str, int]:
    return {"object_store_memory": STORE}


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.vw"
    lines = (f"{1 if k % 3 else -1} | a{k % 977} b{k % 1009} c{k % 5003}\n" for k in range(12_000))
    path.write_text("".join(lines))
    return path


def run(log: Path, **settings: Any) -> Learner:
    start = Learner("logistic", bits=16)
    return train([log], start=start, **{"workers": 3, "syncs": 3, **settings})


def test_tasks_give_the_bits_of_one_process(cluster: Any, log: Path, tmp_path: Path) -> None:
    alone = run(log, engine=in_process)
    assert run(log, engine=OnRay(cluster.address)).to_bytes() == alone.to_bytes()

    def stop(line: str) -> None:
        if line.startswith("sync 2 "):
            raise InterruptedError

    kept = tmp_path / "kept"
    with pytest.raises(InterruptedError):
        run(log, engine=OnRay(cluster.address), checkpoint=kept, progress=stop)
    assert [path.name for path in kept.glob("*.model")] == ["2.model"]
    resumed = run(log, engine=OnRay(cluster.address), checkpoint=kept)
    assert resumed.to_bytes() == alone.to_bytes()


def test_a_killed_worker_changes_no_bit(cluster: Any, log: Path, tmp_path: Path) -> None:
    mark = tmp_path / "killed"
    engine = OnRay(cluster.address, interval=partial(killed_once, mark))
    assert run(log, engine=engine).to_bytes() == run(log, engine=in_process).to_bytes()
    assert mark.exists()


def test_a_removed_node_changes_no_bit(cluster: Any, log: Path, tmp_path: Path) -> None:
    mark = tmp_path / "held"
    engine = OnRay(cluster.address, interval=partial(held_once, mark, cluster.head_node.node_id))

    def remove() -> None:
        waiting = node_of(mark)
        [found] = [each for each in cluster.worker_nodes if each.node_id == waiting]
        cluster.remove_node(found, allow_graceful=False)

    remover = Thread(target=remove)
    remover.start()
    # Six workers on three CPUs, so that the nodes that are not the head have work.
    disturbed = run(log, engine=engine, workers=6)
    remover.join()
    cluster.add_node(num_cpus=1, **node())
    assert disturbed.to_bytes() == run(log, engine=in_process, workers=6).to_bytes()


def test_a_dataset_is_learned_in_its_order(cluster: Any) -> None:
    import pyarrow
    from ray import data

    table = pyarrow.table(
        {
            "age": [20 + k % 50 for k in range(600)],
            "city": ["Rome" if k % 3 else "Oslo" for k in range(600)],
            "bought": ["yes" if k % 3 and k % 50 > 9 else "no" for k in range(600)],
        }
    )
    settings = {"label": "bought", "workers": 2, "syncs": 3}
    learner = train(data.from_arrow(table), engine=OnRay(cluster.address), **settings)
    assert learner.to_bytes() == train(table, engine=in_process, **settings).to_bytes()
    with pytest.raises(SpecError, match="learned by Ray"):
        train(data.from_arrow(table), engine=in_process, **settings)


def test_errors_are_those_of_the_data(cluster: Any, log: Path) -> None:
    log.write_text("1 | a\n1 | b:x\n" * 9)
    with pytest.raises(InputError, match="expected a number"):
        run(log, engine=OnRay(cluster.address))


def never(_: bytes, __: Any) -> bytes:
    import time

    time.sleep(3600)
    return b""


def test_a_wait_ends_and_says_what_is_missing(cluster: Any, log: Path) -> None:
    engine = OnRay(cluster.address, timeout=2, interval=never)
    with pytest.raises(LessRegretError, match=r"no interval in 2 s; 3 of 3 are missing.* CPUs"):
        run(log, engine=engine)


def test_a_cluster_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    with pytest.raises(LessRegretError, match=r"no Ray cluster at 127\.0\.0\.1:9"):
        OnRay("127.0.0.1:9").join()
