"""Learning on many machines: intervals of learning and merges, and nothing else.

    model bytes ─┬─ train_interval(model, piece 1) ─┐
                 ├─ train_interval(model, piece 2) ─┼─ merge ─▶ model bytes, and so on
                 └─ train_interval(model, piece 3) ─┘

An interval is a pure function, so whoever runs it may run it again: the result has the same bits.
Engines run intervals: :mod:`.local` on this machine, :mod:`.on_ray` on a Ray cluster,
:mod:`.on_spark` where the rows of a Spark DataFrame are.
"""

from lessregret.distributed.cutting import cut, cut_table
from lessregret.distributed.interval import train_interval
from lessregret.distributed.local import in_process, in_processes
from lessregret.distributed.on_ray import OnRay
from lessregret.distributed.on_spark import learn_batches, predict
from lessregret.distributed.pieces import ArrowRows, ByteRange, RowGroups, Several, WholeFile
from lessregret.distributed.run import train

__all__ = [
    "ArrowRows",
    "ByteRange",
    "OnRay",
    "RowGroups",
    "Several",
    "WholeFile",
    "cut",
    "cut_table",
    "in_process",
    "in_processes",
    "learn_batches",
    "predict",
    "train",
    "train_interval",
]
