"""A chart as inline SVG: lines with their names at their ends, and values under the pointer.

A chart is as wide as the page lets it be, and only its curves are stretched: they are drawn in an
inner picture of 1000 × 1000 units, while letters, dots and ticks stand at percentages of the width
and so keep their size on a phone. Colours are names of the page's palette, light or dark. There is
no script: for each value on the axis across there is a strip that shows what stands beside it while
the pointer is on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import ceil
from typing import NamedTuple

from lessregret.report.axis import Axis
from lessregret.report.html_page import escaped

HEIGHT = 290
"""of the plot, in pixels"""
LETTERS_A_LINE = 16
"""that fit beside the plot"""
LINE_HEIGHT = 17
COLOURS = ("blue", "red", "green", "violet", "amber", "teal")
"""for as many lines as the user likes; then come other dashes"""
DASHES = ("", "7 4", "2 4")

Point = tuple[float, float]


@dataclass(frozen=True)
class Line:
    """Points that are joined, under a name."""

    name: str
    points: Sequence[Point]
    """in order"""
    colour: str = "blue"
    dash: str = ""
    width: float = 2.2
    dots: bool = False
    joined: bool = True
    told: bool = True
    """whether the pointer shows its values"""
    valued: bool = True
    """whether the last value stands beside the name"""
    short: str = ""
    """the name beside the plot, if there the full one has no room"""
    named_at: Point | None = None
    """where in the plot the name stands; beside it, at the height of the last point, if None"""


class Band(NamedTuple):
    """What lies between two curves."""

    points: Sequence[tuple[float, float, float]]
    """across, from, to"""
    colour: str


class Level(NamedTuple):
    """A height that lines are compared with."""

    name: str
    height: float
    colour: str = "soft"
    dash: str = "4 4"


class Whisker(NamedTuple):
    """An interval at one place across."""

    at: float
    low: float
    high: float
    colour: str = "blue"


class Dot(NamedTuple):
    """A point of its own."""

    at: Point
    colour: str
    hollow: bool = False


class End(NamedTuple):
    """The name of a line beside the plot."""

    middle: float
    """in pixels from the top"""
    name: str
    value: float
    colour: str
    valued: bool = True
    short: str = ""
    key: str = ""
    """how the line looks, for a narrow page: "dashed", "dots", or "" for a line"""

    @property
    def text(self) -> str:
        """The last value, if it says something."""
        return f" {self.value:.4g}" if self.valued else ""

    @property
    def tall(self) -> float:
        """The height of the text, in pixels."""
        return LINE_HEIGHT * ceil(len((self.short or self.name) + self.text) / LETTERS_A_LINE)

    def html(self, top: float) -> str:
        """An item of a list; on a narrow page ``top`` does not count."""
        style = f"top: calc({top:.0f}px + .6rem); color: var(--{self.colour})"
        name = f"<b>{escaped(self.name)}</b>"
        if self.short:
            full = f'<b class="full">{escaped(self.name)}</b>'
            name = f'<b class="short" aria-hidden="true">{escaped(self.short)}</b>{full}'
        key = f' class="{self.key}"' if self.key else ""
        return f'<li{key} style="{style}">{name}{self.text}</li>'


@dataclass(frozen=True)
class Chart:
    """Everything that stands in one pair of axes; ``about`` says what for who cannot see it."""

    across: Axis
    up: Axis
    about: str
    lines: Sequence[Line] = ()
    levels: Sequence[Level] = ()
    bands: Sequence[Band] = ()
    whiskers: Sequence[Whisker] = ()
    dots: Sequence[Dot] = ()
    caption: str = ""
    height: int = HEIGHT
    tips: Sequence[tuple[float, str]] = field(default=())
    """what the pointer shows at a place across; the values of the lines if empty"""

    def html(self) -> str:
        """The chart as a figure."""
        below = f"<figcaption>{escaped(self.caption)}</figcaption>" if self.caption else ""
        return (
            f'<figure class="chart">\n<p class="up">{escaped(self.up.name)}</p>\n'
            f'<div class="field">\n{self._ends()}<div class="plot">\n{self._svg()}\n'
            f'{self._tips()}</div>\n</div>\n<p class="across">{escaped(self.across.name)}</p>\n'
            f"{below}</figure>"
        )

    def _x(self, value: float) -> float:
        """In per cent of the width."""
        return round(100 * self.across.place(value), 2)

    def _y(self, value: float) -> float:
        """In pixels from the top; what is beyond an end stands at it."""
        return round(self.height * (1 - min(max(self.up.place(value), 0.0), 1.0)), 1)

    def _svg(self) -> str:
        inner = [*map(self._band, self.bands), *map(self._polyline, self.lines)]
        parts = [
            *self._grid(),
            '<svg viewBox="0 0 1000 1000" preserveAspectRatio="none" width="100%" height="100%">',
            *inner,
            "</svg>",
            *self._overlay(),
        ]
        about = escaped(self.about)
        inside = "\n".join(parts)
        return f'<svg height="{self.height}" role="img" aria-label="{about}">\n{inside}\n</svg>'

    def _overlay(self) -> Iterator[str]:
        """What keeps its size."""
        yield from map(self._whisker, self.whiskers)
        for line in self.lines:
            if line.dots:
                yield from (self._dot(Dot(point, line.colour)) for point in line.points)
        yield from map(self._dot, self.dots)
        for line in self.lines:
            if line.named_at is not None:
                yield self._named(line, line.named_at)

    def _grid(self) -> Iterator[str]:
        for tick in self.up.ticks():
            yield _rule("0%", self._y(tick), "100%", self._y(tick), "line")
            label = self.up.label(tick)
            yield f'<text x="-8" y="{self._y(tick) + 4}" text-anchor="end">{label}</text>'
        for tick in self.across.ticks():
            at = self._x(tick)
            side = "end" if at > 94 else "middle"
            yield _rule(f"{at}%", self.height, f"{at}%", self.height + 5, "soft")
            label = self.across.label(tick)
            yield f'<text x="{at}%" y="{self.height + 20}" text-anchor="{side}">{label}</text>'
        for level in self.levels:
            high = self._y(level.height)
            yield _rule("0%", high, "100%", high, level.colour, level.dash, 1.4)

    def _inner(self, across: float, up: float) -> str:
        """A point of the stretched picture."""
        return f"{10 * self._x(across):.1f},{1000 * self._y(up) / self.height:.1f}"

    def _polyline(self, line: Line) -> str:
        if not line.joined or len(line.points) < 2:
            return ""
        points = " ".join(self._inner(*point) for point in line.points)
        dash = f' stroke-dasharray="{line.dash}"' if line.dash else ""
        return (
            f'<polyline points="{points}" fill="none" stroke="var(--{line.colour})" '
            f'stroke-width="{line.width}" stroke-linejoin="round"{dash}/>'
        )

    def _band(self, band: Band) -> str:
        there = [self._inner(at, high) for at, _, high in band.points]
        back = [self._inner(at, low) for at, low, _ in reversed(band.points)]
        points = " ".join([*there, *back])
        return f'<polygon points="{points}" fill="var(--{band.colour})" fill-opacity=".16"/>'

    def _whisker(self, whisker: Whisker) -> str:
        at = f"{self._x(whisker.at)}%"
        low, high = self._y(whisker.low), self._y(whisker.high)
        return _rule(at, low, at, high, whisker.colour, width=1.4)

    def _dot(self, dot: Dot) -> str:
        fill = "none" if dot.hollow else f"var(--{dot.colour})"
        edge = dot.colour if dot.hollow else "paper"
        return (
            f'<circle cx="{self._x(dot.at[0])}%" cy="{self._y(dot.at[1])}" r="4.5" fill="{fill}" '
            f'stroke="var(--{edge})" stroke-width="1.2"/>'
        )

    def _named(self, line: Line, at: Point) -> str:
        x = self._x(at[0])
        side = "start" if x < 12 else "end" if x > 88 else "middle"
        return (
            f'<text class="named" x="{x}%" y="{self._y(at[1]) + 4}" text-anchor="{side}" '
            f'style="fill: var(--{line.colour})">{escaped(line.name)}</text>'
        )

    def _ends(self) -> str:
        """Names and last values beside the lines, apart from each other."""
        ends = [
            End(
                self._y(line.points[-1][1]),
                line.name,
                line.points[-1][1],
                line.colour,
                line.valued,
                key="" if line.joined and not line.dash else _key(line),
            )
            for line in self.lines
            if line.points and line.named_at is None
        ]
        ends += [
            End(self._y(each.height), *each[:3], key="dashed" if each.dash else "")
            for each in self.levels
        ]
        ends.sort()
        tops = spread([end.middle for end in ends], [end.tall for end in ends], self.height)
        items = [end.html(top) for top, end in zip(tops, ends, strict=True)]
        return '<ul class="ends">\n' + "\n".join(items) + "\n</ul>\n" if items else ""

    def _tips(self) -> str:
        told = self.tips or self._values()
        if len(told) < 2:
            return ""
        places = [self._x(at) for at, _ in told]
        middles = [(a + b) / 2 for a, b in pairwise(places)]
        strips = zip([0.0, *middles], [*middles, 100.0], told, strict=True)
        items = [
            f'<i style="left: {left:.2f}%; width: {right - left:.2f}%"></i>'
            f"<span>{escaped(text)}</span>"
            for left, right, (_, text) in strips
        ]
        return '<div class="tips" aria-hidden="true">\n' + "\n".join(items) + "\n</div>\n"

    def _values(self) -> list[tuple[float, str]]:
        """The values of all lines, by their places across."""
        told: dict[float, list[str]] = {}
        for line in self.lines:
            for at, value in line.points if line.told else ():
                told.setdefault(at, [self.across.told(at)]).append(f"{line.name}: {value:.4g}")
        return [(at, "\n".join(told[at])) for at in sorted(told)]


@dataclass(frozen=True)
class Switched:
    """Two charts of which the reader chooses one; the first is shown."""

    about: str
    """what the choice is about"""
    choices: Sequence[tuple[str, Chart]]

    def html(self) -> str:
        """Buttons, then the charts; the style of the page shows the chosen one."""
        stem = "-".join(self.about.lower().split())
        buttons = [
            f'<input type="radio" name="{stem}" id="{stem}-{place}"{" checked" * (place == 0)}>'
            f'<label for="{stem}-{place}">{escaped(name)}</label>'
            for place, (name, _) in enumerate(self.choices)
        ]
        shown = [f'<div class="choice">\n{chart.html()}\n</div>' for _, chart in self.choices]
        inside, about = "\n".join([*buttons, *shown]), escaped(self.about)
        return f'<div class="switch" role="group" aria-label="{about}">\n{inside}\n</div>'


def _key(line: Line) -> str:
    return "dashed" if line.joined else "dots"


def spread(middles: Sequence[float], heights: Sequence[float], limit: float) -> list[float]:
    """The tops of texts that stand beside these heights, moved apart, in order from the top.

    >>> spread([100, 101, 200], [20, 20, 20], 300)
    [90.0, 110.0, 190.0]
    """
    tops: list[float] = []
    for middle, height in zip(middles, heights, strict=True):
        least = tops[-1] + heights[len(tops) - 1] if tops else -height / 2
        tops.append(max(middle - height / 2, least))
    floor_ = limit + 10.0
    for place in reversed(range(len(tops))):
        tops[place] = min(tops[place], floor_ - heights[place])
        floor_ = tops[place]
    return tops


def looks(place: int) -> tuple[str, str]:
    """The colour and the dash of the line in this place, for as many as there are."""
    return COLOURS[place % len(COLOURS)], DASHES[place // len(COLOURS) % len(DASHES)]


def _rule(
    x1: str, y1: float, x2: str, y2: float, colour: str, dash: str = "", width: float = 1
) -> str:
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="var(--{colour})" '
        f'stroke-width="{width}"{dashed}/>'
    )
