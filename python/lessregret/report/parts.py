"""What a section of a report is made of; each part knows its HTML and escapes what it is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from lessregret.report.html_page import as_svg, escaped, markdown, picture, table
from lessregret.report.wording import weight_text

STYLE = """
.lead { font-size: 1.05rem; color: var(--soft); margin-top: 0; overflow-wrap: anywhere; }
figcaption { font: .85rem/1.5 system-ui, sans-serif; color: var(--soft); max-width: 42rem; }
.tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(12.5rem, 1fr));
         gap: .8rem; margin: 2rem 0 0; padding: 0; font-family: system-ui, sans-serif; }
.tile { border: 1px solid var(--line); border-radius: 8px; padding: .75rem .9rem .8rem;
        background: var(--shade); }
.tile dt { font-size: .8rem; color: var(--soft); }
.tile dd { margin: 0; }
.tile .value { font-size: 1.45rem; line-height: 1.4; white-space: nowrap;
               font-variant-numeric: tabular-nums; }
.tile .note { font-size: .76rem; line-height: 1.4; color: var(--soft); }
.warning { border-left: 4px solid var(--red); background: var(--alert); padding: .6rem .9rem;
           border-radius: 0 6px 6px 0; overflow-wrap: anywhere; }
.facts th { font-weight: 400; color: var(--soft); border-bottom: 1px solid var(--line);
            vertical-align: top; }
.facts td { white-space: normal; overflow-wrap: anywhere; min-width: 9rem; }
.bars td:first-child { white-space: normal; overflow-wrap: anywhere; min-width: 8rem; }
.bars { width: 100%; }
.bars .track { width: 45%; min-width: 6rem; padding: .32rem 0; }
.track span { display: block; height: .8rem; border-radius: 2px; }
.track .above { margin-left: 50%; background: var(--blue); }
.track .below { margin-right: 50%; margin-left: auto; background: var(--red); }
details { margin: .6rem 0 1rem; font: .85rem/1.5 system-ui, sans-serif; }
summary { cursor: pointer; color: var(--blue); }
p code { white-space: nowrap; }
pre.command { white-space: pre-wrap; }
pre.command span { display: inline-block; max-width: 100%; overflow-wrap: anywhere; }
figure + details { margin-top: -.9rem; }
@media (max-width: 34rem) { main { padding-top: 1.6rem; } h1 { font-size: 1.9rem; }
                            .tiles { grid-template-columns: 1fr 1fr; gap: .5rem; } }
"""


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
    """A named number."""

    name: str
    value: float


@dataclass(frozen=True)
class Bars:
    """Named numbers as bars, those below 0 to the left.

    They are drawn by the browser and not as a picture: names may be in any script, and long.
    """

    names: str
    values: str
    bars: Sequence[Bar]

    def html(self) -> str:
        longest = max(abs(bar.value) for bar in self.bars) or 1.0
        rows = "\n".join(_bar(bar, longest) for bar in self.bars)
        return (
            f'<div class="scroll"><table class="bars">\n<thead><tr><th>{escaped(self.names)}</th>'
            f'<th class="right">{escaped(self.values)}</th><th></th></tr></thead>\n'
            f"<tbody>\n{rows}\n</tbody>\n</table></div>"
        )


def _bar(bar: Bar, longest: float) -> str:
    side = "above" if bar.value >= 0 else "below"
    width = 50 * abs(bar.value) / longest
    return (
        f'<tr><td>{escaped(bar.name)}</td><td class="right">{weight_text(bar.value)}</td>'
        f'<td class="track"><span class="{side}" style="width: {width:.2f}%"></span></td></tr>'
    )
