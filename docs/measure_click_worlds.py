"""Measure what the page on the click simulator says of its worlds, as a Markdown table.

python docs/measure_click_worlds.py
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lessregret.data.generate import PHRASES, ClickWorld, binary_entropy, csr_rows, impressions

EXAMPLES = 1_000_000
HEADING = (
    "world",
    "features",
    "seen once",
    "features an impression",
    "first query",
    "truth",
    "constant",
    "saved",
)


def measured(world: ClickWorld) -> list[str]:
    """The figures of a world's first million impressions."""
    counts, queries = np.zeros(world.columns, dtype=np.int64), np.zeros(world.queries)
    entropy = clicks = 0.0
    for block in impressions(world, EXAMPLES):
        counts += np.bincount(csr_rows(world, block).indices, minlength=world.columns)
        queries += np.bincount(block.queries, minlength=world.queries)
        entropy += block.entropy * len(block) / EXAMPLES
        clicks += np.count_nonzero(block.labels == 1)
    constant = float(binary_entropy(np.array([clicks / EXAMPLES]))[0])
    return [
        f"{np.count_nonzero(counts):,}",
        f"{np.mean(counts[counts > 0] == 1):.0%}",
        f"{counts.sum() / EXAMPLES:.1f}",
        f"{queries[0] / EXAMPLES:.1%}",
        f"{entropy:.4f}",
        f"{constant:.4f}",
        f"{1 - entropy / constant:.0%}",
    ]


def main() -> None:
    """Print a row for each world."""
    print(f"| {' | '.join(HEADING)} |")
    print(f"| --- |{' ---: |' * (len(HEADING) - 1)}")
    for name, world in {"default": ClickWorld(), **PHRASES}.items():
        cells = [cell.replace("%", " %") for cell in measured(replace(world))]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
