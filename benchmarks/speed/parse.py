"""Reads a file as lessregret does and learns nothing."""

from __future__ import annotations

import argparse

from lessregret.data.streams import BLOCK, open_examples
from lessregret.learners.space import FeatureSpace


def main() -> None:
    """Read to the end."""
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--bits", type=int, required=True)
    # What every contestant is told; there is nothing to predict and no share to take here.
    for ignored in ("--rows", "--held-out", "--predictions"):
        parser.add_argument(ignored)
    arguments = parser.parse_args()
    stream = open_examples([arguments.data], FeatureSpace(bits=arguments.bits))
    # Not one example after another, which would measure Python.
    while stream.core.read(BLOCK)[-1]:
        pass


if __name__ == "__main__":
    main()
