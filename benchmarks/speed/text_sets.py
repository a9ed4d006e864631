"""From text to model on one data set: time, memory, and what was learned by then."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from benchmarks.speed.contestants import Contestant, chosen
from benchmarks.speed.process import ContestantFailedError, Run, run
from benchmarks.speed.rounds import Standing, take_turns, tell
from benchmarks.speed.score import Score, score_files
from benchmarks.speed.settings import Settings
from benchmarks.speed.table import loss, megabytes, seconds, share, table

HEADINGS = [
    "contestant", "text", "least, s", "median, s", "times ours", "user CPU, s", "peak, MB",
    "held-out loss", "held-out error", "progressive loss",
]  # fmt: skip


def measure(part: str, settings: Settings) -> str:
    """The table of one data set."""
    contestants = chosen(part, settings.contestants)
    if not contestants:
        return f"## {part}\n\nNobody was chosen for this part."
    settings.cache.prepare(part)
    scores, failures = score_all(part, contestants, settings)
    commands = {
        contestant.key: timed_command(part, contestant, settings)
        for contestant in contestants
        if contestant.key not in failures
    }
    standings = take_turns(commands, settings.repeats)
    for key, standing in standings.items():
        standing.score = scores.get(key)
    failed = {key: Standing(failure=reason) for key, reason in failures.items()}
    return as_table(part, contestants, {**standings, **failed}, settings)


def timed_command(part: str, contestant: Contestant, settings: Settings) -> list[str]:
    data = settings.cache.file(part, contestant.text)
    return contestant.command(settings.python(contestant), data, settings.cache.rows(part))


def score_all(
    part: str, contestants: list[Contestant], settings: Settings
) -> tuple[dict[str, Score], dict[str, str]]:
    """The first run of each: what it learns; and why those fail that do."""
    scores, failures = {}, {}
    for contestant in contestants:
        try:
            found = score_one(part, contestant, settings)
        except ContestantFailedError as failure:
            failures[contestant.key] = str(failure)
            tell(f"{contestant.key} is left out: {failure}")
            continue
        if found:
            scores[contestant.key] = found
    return scores, failures


def score_one(part: str, contestant: Contestant, settings: Settings) -> Score | None:
    """What a contestant predicts for the rows held out; reading alone predicts nothing."""
    cache = settings.cache
    data, held_out = (cache.file(part, contestant.text, part=k) for k in (1, 0))
    with tempfile.TemporaryDirectory(dir=cache.folder) as folder:
        predictions = Path(folder) / "predictions"
        python, rows = settings.python(contestant), cache.rows(part)
        commands = contestant.scored(python, data, rows, held_out, predictions)
        said, *_ = [run(command).said for command in commands]
        if not predictions.exists():
            return None
        found = score_files(held_out, predictions)
    # Ours calls it mean_loss: it is that of predictions made before learning.
    return replace(found, progressive=said.get("mean_loss", said.get("progressive_loss")))


def as_table(
    part: str, contestants: list[Contestant], standings: dict[str, Standing], settings: Settings
) -> str:
    """A row for each contestant, and below the table what must be known to read it."""
    ran = [c for c in contestants if standings[c.key].failure is None]
    times = {c.key: median_wall(c, standings[c.key]) for c in ran}
    rows = [row(c, standings[c.key], times[c.key], times.get(f"one-{c.text}")) for c in ran]
    left_out = [
        f"Left out: {c.title}: {standings[c.key].failure}." for c in contestants if c not in ran
    ]
    return "\n\n".join([heading(part, settings), table(HEADINGS, rows, words=2), *left_out])


def median_wall(contestant: Contestant, standing: Standing) -> float:
    return standing.median(lambda run: scaled(run, contestant).wall)


def heading(part: str, settings: Settings) -> str:
    cache = settings.cache
    size = cache.file(part, "vw").stat().st_size
    held_out = cache.held_out_rows(part)
    return (
        f"## {part}\n\n{cache.rows(part):,} lines, {megabytes(size)} MB of Vowpal Wabbit text; "
        f"{held_out:,} more lines held out."
    )


def row(
    contestant: Contestant, standing: Standing, median: float, reference: float | None
) -> list[str]:
    """What is scaled up has a star."""
    star = "" if contestant.share == 1 else "\\*"
    found = standing.score
    return [
        contestant.title + star,
        contestant.text,
        seconds(standing.least(lambda run: scaled(run, contestant).wall)) + star,
        seconds(median) + star,
        "–" if reference is None else f"{median / reference:.2f}{star}",
        seconds(standing.median(lambda run: scaled(run, contestant).user)) + star,
        megabytes(standing.median(lambda run: run.peak)),
        loss(found.loss if found else None),
        share(found.error) if found else "–",
        loss(found.progressive if found else None),
    ]


def scaled(run: Run, contestant: Contestant) -> Run:
    """The run as if on the whole file: all but the start takes longer in proportion."""
    more = 1 / contestant.share - 1
    if more == 0:
        return run
    wall = run.wall + more * run.said["work"]
    return replace(run, wall=wall, user=run.user + more * run.said["work_user"])
