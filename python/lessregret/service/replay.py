"""Reading the log again at a start: entries of one kind are parsed and learned together.

    entries ─same media, one example a line─▶ joined body ─parse once─▶ learn once

The bits do not depend on how examples are divided into calls. Two things do, and are kept as they
were: labels of text are spelled in one way per body, and a round that diverges ends its own entry
only. So a joined body that cannot be parsed is parsed in smaller parts, and after a round that
diverges learning goes on with the next entry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from lessregret import _core
from lessregret.errors import InputError
from lessregret.service.bodies import JSON, NDJSON, VW, Bodies, Labelled
from lessregret.service.log import Entry, LogError
from lessregret.service.refusals import RefusedError

MOST_EXAMPLES = 4096
MOST_BYTES = 4 << 20
LINES = {JSON: NDJSON, NDJSON: NDJSON, VW: VW}
"""What entries become when they are joined, if they can be."""
Learn = Callable[[Labelled], object]
Run = list[Entry]
Joined = _core.Examples | None


def runs(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    """Entries that follow each other and may be joined, in lists of bounded size."""
    run: list[Entry] = []
    examples = size = 0
    before: str | None = None
    try:
        for entry in entries:
            kind = _lines_of(entry)
            examples += entry.examples
            size += len(entry.body)
            may_follow = kind is not None and kind == before
            if run and not (may_follow and examples <= MOST_EXAMPLES and size <= MOST_BYTES):
                yield run
                run, examples, size = [], entry.examples, len(entry.body)
            run.append(entry)
            before = kind
    except LogError:
        # What stands before the damage is learned.
        if run:
            yield run
        raise
    if run:
        yield run


def _lines_of(entry: Entry) -> str | None:
    """The media type of the lines that the body has; None if it is no lines."""
    media, body = entry.media, entry.body
    if media == JSON and (body[:1] != b"{" or b"\n" in body):
        return None
    return LINES.get(media)


def learn_run(bodies: Bodies, run: Run, learn: Learn, rounds: Callable[[], int]) -> None:
    """Learn a run of entries. ``learn`` returns None unless a round diverged; ``rounds`` counts.

    A run that cannot be joined is divided, until its entries can be joined or stand alone.
    """
    to_do = [run]
    while to_do:
        run = to_do.pop()
        joined = _joined(bodies, run)
        if joined is not None:
            before = rounds()
            if learn(Labelled(joined)) is not None:
                to_do += filter(None, [_behind(run, rounds() - before)])
        elif len(run) == 1:
            learn(bodies.entry(run[0].media, run[0].body))
        else:
            middle = len(run) // 2
            to_do += [run[middle:], run[:middle]]


def _joined(bodies: Bodies, run: Run) -> Joined:
    """The examples of all entries; None if they must be parsed one by one."""
    if len(run) == 1:
        return None
    kind = _lines_of(run[0])
    assert kind is not None
    body = b"\n".join(entry.body for entry in run)
    try:
        found = bodies.replayed(kind, body)
    except (InputError, RefusedError):
        return None
    is_whole = found is not None and len(found) == sum(entry.examples for entry in run)
    return found if is_whole else None


def _behind(run: list[Entry], learned: int) -> list[Entry]:
    """The entries behind the one in which learning ended."""
    for place, entry in enumerate(run):
        learned -= entry.examples
        if learned < 0:
            return run[place + 1 :]
    return []
