"""All findings as one page, "Less regret, re-run", that a reader could learn the paper from.

The page is one file: text and pictures are inside it, and nothing is fetched when it is opened.
"""

from __future__ import annotations

import base64
import html
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

from lessregret._core import __version__
from lessregret.paper import CLAIMS
from lessregret.paper.finding import FAILS, HOLDS, Finding

TITLE = "Less regret, re-run"

INTRODUCTION = """
Streeter and McMahan's *Less Regret via Online Conditioning* (2010) is one of the two papers that
gave the world AdaGrad. It studies a game. Each round a player shows a point `x_t` of a feasible
set `F`; then a convex loss `f_t` is shown, and the player suffers `f_t(x_t)`. The player's
**regret** is what it lost beyond the best fixed point in hindsight:

    regret = Σ f_t(x_t) − min over x in F of Σ f_t(x)

Gradient descent, `x_{t+1} = P(x_t − η_t g_t)`, has small regret if the rate `η` suits the problem.
The paper's point is that one rate cannot suit all coordinates: where gradients are large the rate
must be small, where they are rare it must be large. Give each coordinate a rate of its own,
`D_i/√(2 Σ g²)`, and the regret is never worse than with one rate, and can be smaller by any factor.

Every claim of the paper is run again below, in its order. Where a formula was printed wrong it is
run as printed and as corrected; the corrections are numbered E1 to E19. A verdict is computed from
the numbers under it.
"""

STYLE = """
:root { --ink: #1c2330; --soft: #5c6675; --line: #dfe3e8; --blue: #1f5f8b; --red: #b5492c;
        --green: #3f7d4e; --paper: #fdfdfc; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
       font: 17px/1.6 Charter, Georgia, "Times New Roman", serif; }
main { max-width: 46rem; margin: 0 auto; padding: 3rem 1.25rem 5rem; }
h1 { font-size: 2.4rem; line-height: 1.15; margin: 0 0 .4rem; }
h2 { font-size: 1.55rem; margin: 3.5rem 0 .3rem; padding-top: 1.4rem;
     border-top: 1px solid var(--line); }
h3 { font-size: 1.15rem; margin: 1.8rem 0 .4rem; }
h4 { font-size: 1rem; margin: 1.4rem 0 .3rem; color: var(--soft); }
p, li { max-width: 42rem; }
a { color: var(--blue); }
code, pre { font: .86em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
pre { background: #f3f4f1; border-radius: 6px; padding: .8rem 1rem; overflow-x: auto; }
code { background: #f3f4f1; border-radius: 3px; padding: .05em .25em; }
pre code { padding: 0; background: none; }
.scroll { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font: .82rem/1.45 system-ui, sans-serif; min-width: 60%; }
th, td { padding: .32rem .7rem; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { text-align: left; font-weight: 600; border-bottom: 2px solid var(--ink); }
figure { margin: 1.6rem 0; }
figure img { width: 100%; height: auto; }
.verdict { display: inline-block; font: 600 .8rem/1 system-ui, sans-serif; color: white;
           background: var(--soft); border-radius: 99px; padding: .38em .8em; white-space: nowrap; }
.good { background: var(--green); } .mended { background: var(--blue); }
.bad { background: var(--red); }
.contents { list-style: none; padding: 0; font: .95rem/1.5 system-ui, sans-serif; }
.contents li { display: flex; gap: .8rem; justify-content: space-between; align-items: baseline;
               border-bottom: 1px solid var(--line); padding: .45rem 0; max-width: none; }
.soft { color: var(--soft); }
footer { margin-top: 4rem; font: .85rem/1.5 system-ui, sans-serif; color: var(--soft); }
@media (max-width: 34rem) { .contents li { flex-direction: column; gap: .2rem; } }
"""


def write_page(
    path: Path, findings: Mapping[str, Finding], modules: Mapping[str, ModuleType], command: str
) -> None:
    """Write the page."""
    parts = [_head(), _contents(findings)]
    parts += [_section(name, finding, modules[name]) for name, finding in findings.items()]
    parts.append(_foot(command))
    path.write_text("\n".join(parts), encoding="utf-8")


def _head() -> str:
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{TITLE}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        f'<h1>{TITLE}</h1>\n<p class="soft">The claims of a paper of 2010, run again by '
        f"lessregret {__version__}</p>\n{_as_html(INTRODUCTION)}"
    )


def _contents(findings: Mapping[str, Finding]) -> str:
    items = [
        f'<li><a href="#{name}">{html.escape(CLAIMS[name].rstrip("."))}</a> {_chip(finding)}</li>'
        for name, finding in findings.items()
    ]
    return '<ol class="contents">\n' + "\n".join(items) + "\n</ol>"


def _section(name: str, finding: Finding, module: ModuleType) -> str:
    body = _as_html("\n\n".join(_lowered(section) for section in finding.sections))
    return (
        f'<section id="{name}">\n<h2>{html.escape(finding.claim)}</h2>\n<p>{_chip(finding)}</p>\n'
        f"{_picture(finding, module)}\n{body}\n</section>"
    )


def _chip(finding: Finding) -> str:
    kinds = {HOLDS: "good", FAILS: "bad"}
    kind = "mended" if "corrected" in finding.verdict else kinds.get(finding.verdict, "")
    kind = "bad" if "fails" in finding.verdict else kind
    return f'<span class="verdict {kind}">{html.escape(finding.verdict)}</span>'


def _picture(finding: Finding, module: ModuleType) -> str:
    """The claim's picture as vectors, inside the page; none where there is nothing to draw."""
    if not finding.rows:
        return ""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "picture.svg"
        module.draw(finding, str(path))
        encoded = base64.b64encode(path.read_bytes()).decode("ascii")
    about = html.escape(f"Picture: {finding.claim}")
    return f'<figure><img alt="{about}" src="data:image/svg+xml;base64,{encoded}"></figure>'


def _lowered(section: str) -> str:
    """The section with its headings one level lower: the claim's own title is above them."""
    return "\n".join("#" + line if line.startswith("##") else line for line in section.split("\n"))


def _as_html(text: str) -> str:
    from markdown_it import MarkdownIt

    rendered: str = MarkdownIt("commonmark", {"html": False}).enable("table").render(text)
    return rendered.replace("<table>", '<div class="scroll"><table>').replace(
        "</table>", "</table></div>"
    )


def _foot(command: str) -> str:
    return (
        f"<footer>Made by <code>{html.escape(command)}</code>, lessregret {__version__}. "
        "The paper: M. Streeter and H. B. McMahan, <em>Less Regret via Online Conditioning</em>, "
        "2010.</footer>\n</main>\n</body>\n</html>\n"
    )
