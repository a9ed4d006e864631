"""A page that is one file: its frame, its tables and its drawings.

Text and pictures are inside the page. There is no script, and a policy in the page's head forbids
the browser to fetch anything or to run any, so that also a page made from strange data is safe.
"""

from __future__ import annotations

import html
import io
import re
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from lessregret.report.palette import PAGE_COLOURS
from lessregret.report.style import STYLE

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
MANY = 3
"""columns, from which on a row becomes a block of its own on a narrow page, if it has no room"""
ROOM, GAP = 40, 3
"""letters that stand side by side on a page of 400 pixels, and those between two columns"""


def document(title: str, body: str, style: str = "") -> str:
    """The whole page around its body; ``style`` is what this page needs beyond the common one."""
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escaped(title)}</title>\n<style>{STYLE}{style}</style>\n</head>\n<body>\n<main>\n"
        f"{body}\n</main>\n</body>\n</html>\n"
    )


def escaped(text: str) -> str:
    r"""Text that anyone may have written, safe in a page; what cannot be shown is spelled out.

    >>> escaped('a <b> & "c"\x1b')
    'a &lt;b&gt; &amp; &quot;c&quot;\\x1b'
    """
    return html.escape("".join(map(_visible, text)))


def _visible(character: str) -> str:
    """The character; its number where it has no shape, as have controls and halves of pairs."""
    if character.isprintable() or character == "\n":
        return character
    return character.encode("unicode_escape").decode("ascii")


def markdown(text: str) -> str:
    """Our own Markdown as HTML; the tables can be read on a narrow page."""
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = reader.parse(text)
    _label_cells(tokens)
    rendered: str = reader.renderer.render(tokens, reader.options, {})
    return rendered.replace("<table", '<div class="scroll"><table').replace(
        "</table>", "</table></div>"
    )


def _label_cells(tokens: Sequence[Any]) -> None:
    """Give the cells of every table the headings of their columns."""
    heading: list[str] = []
    place = 0
    for number, token in enumerate(tokens):
        if token.type == "table_open":
            opened, heading = token, []
        elif token.type == "th_open":
            token.attrSet("scope", "col")
            heading.append(tokens[number + 1].content)
        elif token.type == "tr_open":
            place = 0
        elif token.type == "tbody_open" and len(heading) >= MANY:
            opened.attrSet("class", "many")
        elif token.type == "td_open":
            token.attrSet("data-label", heading[place].replace("`", ""))
            place += 1


def table(heading: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """A table of plain text; the first ``left`` columns to the left, the others to the right."""
    head = "".join(
        f'<th scope="col"{_side(place, left)}>{escaped(cell)}</th>'
        for place, cell in enumerate(heading)
    )
    body = "\n".join(f"<tr>{_cells(heading, row, left)}</tr>" for row in rows)
    many = ' class="many"' if is_wide([heading, *rows]) else ""
    return (
        f'<div class="scroll"><table{many}>\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody>\n</table></div>"
    )


def is_wide(rows: Sequence[Sequence[str]]) -> bool:
    """Whether a table of such rows has no room on a narrow page.

    >>> is_wide([["rate", "share", "loss"]]), is_wide([["a rule of many words"] * 3])
    (False, True)
    """
    widest = sum(max(map(len, column)) for column in zip(*rows, strict=True))
    return len(rows[0]) >= MANY and widest + GAP * len(rows[0]) > ROOM


def _cells(heading: Sequence[str], cells: Sequence[str], left: int) -> str:
    return "".join(
        f'<td data-label="{escaped(name)}"{_side(place, left)}>{escaped(cell)}</td>'
        for place, (name, cell) in enumerate(zip(heading, cells, strict=True))
    )


def _side(place: int, left: int) -> str:
    return "" if place < left else ' class="right"'


def picture(svg: bytes, about: str, caption: str = "") -> str:
    """A drawing inside the page, in the page's colours; ``about`` is for who cannot see it."""
    below = f"<figcaption>{escaped(caption)}</figcaption>" if caption else ""
    named = f'<svg role="img" aria-label="{escaped(about)}"'
    inside = _inlined(svg.decode()).replace("<svg", named, 1)
    return f'<figure class="drawing">{inside}{below}</figure>'


def _inlined(svg: str) -> str:
    """A drawing as a part of a page: as wide as there is room, its names apart from others'."""
    body = svg[svg.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r'(<svg[^>]*?) width="[^"]*"| height="[^"]*"', r"\1", body, count=2)
    body = re.sub(r'<g id="[^"]*"', "<g", body)
    apart = sha256(body.encode()).hexdigest()[:8]
    body = re.sub(r'( id="|#)([mpC][0-9a-f_]{6,})', rf"\1d{apart}\2", body)
    for colour, name in PAGE_COLOURS.items():
        body = body.replace(colour, f"var(--{name})")
    return body


def as_svg(figure: Any) -> bytes:
    """A figure of matplotlib's as vectors: the same bytes each time, and no word of when or who."""
    from matplotlib import rc_context

    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    buffer = io.BytesIO()
    with rc_context({"svg.hashsalt": "lessregret", "svg.fonttype": "none"}):
        figure.savefig(buffer, format="svg", transparent=True, metadata=nothing)
    return buffer.getvalue()
