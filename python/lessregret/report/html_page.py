"""A page that is one file: its frame and style, its tables and pictures.

Text and pictures are inside the page. It is light or dark as the reader's system is, and light on
paper. There is no script, and a policy in the page's head forbids
the browser to fetch anything or to run any, so that also a page made from strange data is safe.
"""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Sequence
from typing import Any

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"

STYLE = """
:root { --ink: #1c2330; --soft: #5c6675; --line: #dfe3e8; --blue: #1f5f8b; --red: #b5492c;
        --green: #3f7d4e; --amber: #94690f; --paper: #fdfdfc; --shade: #f3f4f1; --alert: #faf1ee;
        color-scheme: light dark; }
@media screen and (prefers-color-scheme: dark) {
  :root { --ink: #e6e8eb; --soft: #a3adba; --line: #343b46; --blue: #7db8e8; --red: #f0937a;
          --green: #86c99a; --amber: #dcb35c; --paper: #16191f; --shade: #232831;
          --alert: #33211c; }
  /* The pictures are drawn in dark ink, so they stay on light paper. */
  figure img { background: #fdfdfc; border-radius: 6px; padding: .5rem; }
}
@media print {
  body { font-size: 11pt; }
  main { max-width: none; padding: 0; }
  figure, tr, .tile { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  .scroll, pre { overflow: visible; }
  pre { white-space: pre-wrap; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
       font: 17px/1.6 Charter, Georgia, "Times New Roman", serif; }
main { max-width: 46rem; margin: 0 auto; padding: 3rem 1.25rem 5rem; }
h1 { font-size: 2.4rem; line-height: 1.15; margin: 0 0 .4rem; overflow-wrap: anywhere; }
h2 { font-size: 1.55rem; margin: 3.5rem 0 .3rem; padding-top: 1.4rem;
     border-top: 1px solid var(--line); }
h3 { font-size: 1.15rem; margin: 1.8rem 0 .4rem; }
h4 { font-size: 1rem; margin: 1.4rem 0 .3rem; color: var(--soft); }
p, li { max-width: 42rem; }
a { color: var(--blue); }
code, pre { font: .86em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
pre { background: var(--shade); border-radius: 6px; padding: .8rem 1rem; overflow-x: auto; }
code { background: var(--shade); border-radius: 3px; padding: .05em .25em; }
pre code { padding: 0; background: none; }
.scroll { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font: .82rem/1.45 system-ui, sans-serif; min-width: 60%; }
th, td { padding: .32rem .7rem; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { text-align: left; font-weight: 600; border-bottom: 2px solid var(--ink); }
th.right, td.right { text-align: right; font-variant-numeric: tabular-nums; }
figure { margin: 1.6rem 0; }
figure img { width: 100%; height: auto; }
.soft { color: var(--soft); }
footer { margin-top: 4rem; font: .85rem/1.5 system-ui, sans-serif; color: var(--soft); }
"""


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
    """Our own Markdown as HTML; tables can be scrolled sideways."""
    from markdown_it import MarkdownIt

    rendered: str = MarkdownIt("commonmark", {"html": False}).enable("table").render(text)
    return rendered.replace("<table>", '<div class="scroll"><table>').replace(
        "</table>", "</table></div>"
    )


def table(heading: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """A table of plain text; the first ``left`` columns to the left, the others to the right."""
    head = _cells("th", heading, left)
    body = "\n".join(f"<tr>{_cells('td', row, left)}</tr>" for row in rows)
    return (
        f'<div class="scroll"><table>\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody>\n</table></div>"
    )


def _cells(tag: str, cells: Sequence[str], left: int) -> str:
    sides = ["" if place < left else ' class="right"' for place in range(len(cells))]
    return "".join(
        f"<{tag}{side}>{escaped(cell)}</{tag}>" for side, cell in zip(sides, cells, strict=True)
    )


def picture(svg: bytes, about: str, caption: str = "") -> str:
    """A picture as vectors, inside the page; ``about`` is for who cannot see it."""
    encoded = base64.b64encode(svg).decode("ascii")
    below = f"<figcaption>{escaped(caption)}</figcaption>" if caption else ""
    source = f"data:image/svg+xml;base64,{encoded}"
    return f'<figure><img alt="{escaped(about)}" src="{source}">{below}</figure>'


def as_svg(figure: Any) -> bytes:
    """A figure of matplotlib's as vectors: the same bytes each time, and no word of when or who."""
    from matplotlib import rc_context

    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    buffer = io.BytesIO()
    with rc_context({"svg.hashsalt": "lessregret"}):
        figure.savefig(buffer, format="svg", transparent=True, metadata=nothing)
    return buffer.getvalue()
