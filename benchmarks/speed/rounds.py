"""Turns: every contestant once, then the next repetition, so that none has the quiet minutes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from benchmarks.speed.process import ContestantFailedError, Run, run
from benchmarks.speed.score import Score


@dataclass
class Standing:
    """All that is known of one contestant."""

    runs: list[Run] = field(default_factory=list)
    score: Score | None = None
    failure: str | None = None

    def least(self, figure: Callable[[Run], float]) -> float:
        return min(map(figure, self.runs))

    def median(self, figure: Callable[[Run], float]) -> float:
        return median(map(figure, self.runs))


def take_turns(commands: Mapping[str, Sequence[str]], repeats: int) -> dict[str, Standing]:
    """Run every command as often as asked; one that fails has no more turns."""
    standings = {name: Standing() for name in commands}
    for repetition in range(1, repeats + 1):
        for name, command in commands.items():
            if standings[name].failure is None:
                turn(standings[name], f"{name}, {repetition} of {repeats}", command)
    return standings


def turn(standing: Standing, what: str, command: Sequence[str]) -> None:
    try:
        standing.runs.append(run(command))
        tell(f"{what}: {standing.runs[-1].wall:.2f} s")
    except ContestantFailedError as failure:
        standing.failure = str(failure)
        tell(f"{what}: failed: {failure}")


def tell(line: str) -> None:
    """To the person who waits; stdout is for the tables."""
    print(f"  {line}", file=sys.stderr, flush=True)
