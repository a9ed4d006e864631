"""What a section of a report is made of; each part knows its HTML and escapes what it is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple, Protocol

from lessregret.report.axis import Axis
from lessregret.report.html_page import as_svg, escaped, markdown, picture, table
from lessregret.report.wording import weight_text


class Part(Protocol):
    """Something that a section shows."""

    def html(self) -> str:
        """The part, safe to put into a page."""


@dataclass(frozen=True)
class Text:
    """Our own words, as Markdown; never text of the user's."""

    text: str

    def html(self) -> str:
        return markdown(self.text)


@dataclass(frozen=True)
class Heading:
    """A heading inside a section."""

    text: str

    def html(self) -> str:
        return f"<h3>{escaped(self.text)}</h3>"


@dataclass(frozen=True)
class Caution:
    """What a reader must not overlook, as plain text."""

    text: str

    def html(self) -> str:
        return f'<p class="warning">{escaped(self.text)}</p>'


@dataclass(frozen=True)
class Facts:
    """Names and what they stand for, as plain text; facts without a value are left out."""

    facts: Sequence[tuple[str, str | None]]

    def html(self) -> str:
        rows = [
            f'<tr><th scope="row">{escaped(name)}</th><td>{escaped(value)}</td></tr>'
            for name, value in self.facts
            if value is not None
        ]
        return (
            '<div class="scroll"><table class="facts"><tbody>\n'
            + "\n".join(rows)
            + "\n</tbody></table></div>"
        )


class Tile(NamedTuple):
    """A number of the headline."""

    name: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class Tiles:
    """The headline: a few numbers, large."""

    tiles: Sequence[Tile]

    def html(self) -> str:
        return '<dl class="tiles">\n' + "\n".join(map(_tile, self.tiles)) + "\n</dl>"


def _tile(tile: Tile) -> str:
    note = f'<dd class="note">{escaped(tile.note)}</dd>' if tile.note else ""
    return (
        f'<div class="tile"><dt>{escaped(tile.name)}</dt>'
        f'<dd class="value">{escaped(tile.value)}</dd>{note}</div>'
    )


@dataclass(frozen=True)
class Table:
    """Rows under a heading, as plain text; the first ``left`` columns to the left."""

    heading: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: int = 1

    def html(self) -> str:
        return table(self.heading, self.rows, self.left)


@dataclass(frozen=True)
class Folded:
    """A part that the reader opens: the numbers behind a picture."""

    summary: str
    part: Part

    def html(self) -> str:
        inside = self.part.html()
        return f"<details><summary>{escaped(self.summary)}</summary>\n{inside}\n</details>"


@dataclass(frozen=True)
class Picture:
    """A figure of matplotlib's; ``about`` says what it shows to who cannot see it."""

    figure: Any
    about: str
    caption: str = ""

    def html(self) -> str:
        return picture(as_svg(self.figure), self.about, self.caption)


class Bar(NamedTuple):
    """A named number; ``text`` is how it is written, if not as a weight."""

    name: str
    value: float
    text: str = ""


@dataclass(frozen=True)
class Bars:
    """Named numbers as bars from 0, those below 0 to the left.

    They are drawn by the browser and not as a picture: names may be in any script, and long.
    """

    names: str
    values: str
    bars: Sequence[Bar]

    def html(self) -> str:
        longest = max(abs(bar.value) for bar in self.bars) or 1.0
        both = any(bar.value < 0 for bar in self.bars)
        rows = "\n".join(_bar(bar, longest, both) for bar in self.bars)
        return _tracks((self.names, self.values), "bar", rows)


def _bar(bar: Bar, longest: float, both: bool) -> str:
    side = "above" if bar.value >= 0 else "below"
    width = (50 if both else 100) * abs(bar.value) / longest
    start = 0 if not both else 50 if bar.value >= 0 else 50 - width
    return (
        f"<tr><td>{escaped(bar.name)}</td>"
        f'<td class="right">{bar.text or weight_text(bar.value)}</td>'
        f'<td class="track"><span class="{side}" '
        f'style="margin-left: {start:.2f}%; width: {width:.2f}%"></span></td></tr>'
    )


class Interval(NamedTuple):
    """A named number that is known to lie between two others."""

    name: str
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Intervals:
    """Named numbers as dots with their intervals, all on one axis that shows 0.

    The axis ends at ``limit``, if there is one; what lies beyond is an arrow.
    """

    names: str
    values: str
    intervals: Sequence[Interval]
    limit: float = inf

    def html(self) -> str:
        least = min(0.0, *(each.low for each in self.intervals))
        most = min(self.limit, max(0.0, *(each.high for each in self.intervals)))
        axis = Axis("", least, most if most > least else least + 1.0)
        rows = "\n".join(_interval(each, axis) for each in self.intervals)
        return _tracks((self.names, self.values), "interval", rows)


def _interval(each: Interval, axis: Axis) -> str:
    known = each.high > each.low
    text = f"{each.value:+.6f}" + f" ({each.low:+.6f} to {each.high:+.6f})" * known
    return (
        f'<tr><td>{escaped(each.name)}</td><td class="right">{text if each.value else "0"}</td>'
        f'<td class="track"><svg aria-hidden="true">{_on_axis(each, axis)}</svg></td></tr>'
    )


def _on_axis(each: Interval, axis: Axis) -> str:
    """The line of 0, the interval and its dot; an arrow where they lie beyond the axis."""
    low, value, high, zero = (
        2 + 96 * axis.place(min(x, axis.high)) for x in (each.low, each.value, each.high, 0.0)
    )
    drawn = f'<line x1="{zero:.2f}%" x2="{zero:.2f}%" y1="0" y2="100%" stroke="var(--soft)"/>'
    if each.low > axis.high:
        return f'{drawn}<text x="100%" y="75%" text-anchor="end">far beyond →</text>'
    return (
        f'{drawn}<line x1="{low:.2f}%" x2="{high:.2f}%" y1="50%" y2="50%" '
        f'stroke="var(--blue)" stroke-width="3"/>'
        f'<circle cx="{value:.2f}%" cy="50%" r="5" fill="var(--blue)"/>'
    )


def _tracks(names: tuple[str, str], track: str, rows: str) -> str:
    """A table whose third column is drawn."""
    name, value = map(escaped, names)
    return (
        f'<div class="scroll"><table class="bars many">\n<thead><tr><th scope="col">{name}</th>'
        f'<th scope="col" class="right">{value}</th>'
        f'<th scope="col"><span class="unseen">{track}</span></th></tr></thead>\n'
        f"<tbody>\n{rows}\n</tbody>\n</table></div>"
    )
