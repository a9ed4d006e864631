"""Learning on many machines: intervals of learning and merges, and nothing else.

    model bytes ─┬─ train_interval(model, piece 1) ─┐
                 ├─ train_interval(model, piece 2) ─┼─ merge ─▶ model bytes, and so on
                 └─ train_interval(model, piece 3) ─┘

An interval is a pure function, so whoever runs it may run it again: the result has the same bits.
"""

from lessregret.distributed.interval import train_interval
from lessregret.distributed.pieces import ByteRange, WholeFile, cut
from lessregret.distributed.run import train

__all__ = ["ByteRange", "WholeFile", "cut", "train", "train_interval"]
