"""All findings as one page, "Less regret, re-run", that a reader could learn the paper from.

The page is one file: text and pictures are inside it, and nothing is fetched when it is opened.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

from lessregret import _core
from lessregret.data.output import write_file
from lessregret.paper import CLAIMS
from lessregret.paper.finding import FAILS, HOLDS, HOLDS_IN_PART, Finding
from lessregret.report.html_page import document, escaped, markdown, picture
from lessregret.report.picture_file import in_a_column

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
.verdict { display: inline-block; font: 600 .8rem/1 system-ui, sans-serif; color: var(--paper);
           background: var(--soft); border-radius: 99px; padding: .38em .8em; white-space: nowrap; }
.good { background: var(--green); } .mended { background: var(--blue); }
.bad { background: var(--red); } .partly { background: var(--amber); }
.contents { list-style: none; padding: 0; font: .95rem/1.5 system-ui, sans-serif; }
.contents li { display: flex; gap: .8rem; justify-content: space-between; align-items: baseline;
               border-bottom: 1px solid var(--line); padding: .45rem 0; max-width: none; }
@media (max-width: 34rem) { .contents li { flex-direction: column; gap: .2rem; }
                            .verdict { white-space: normal; line-height: 1.3; } }
"""


def write_page(
    path: Path, findings: Mapping[str, Finding], modules: Mapping[str, ModuleType], command: str
) -> None:
    """Write the page."""
    parts = [_head(), _contents(findings)]
    parts += [_section(name, finding, modules[name]) for name, finding in findings.items()]
    parts.append(_foot(command))
    write_file(path, document(TITLE, "\n".join(parts), STYLE).encode())


def _head() -> str:
    return (
        f'<h1>{TITLE}</h1>\n<p class="soft">The claims of a paper of 2010, run again by '
        f"lessregret {_core.__version__}</p>\n{markdown(INTRODUCTION)}"
    )


def _contents(findings: Mapping[str, Finding]) -> str:
    items = [
        f'<li><a href="#{name}">{escaped(CLAIMS[name].rstrip("."))}</a> {_chip(finding)}</li>'
        for name, finding in findings.items()
    ]
    return '<ol class="contents">\n' + "\n".join(items) + "\n</ol>"


def _section(name: str, finding: Finding, module: ModuleType) -> str:
    texts = [finding.conditions, *(_lowered(section) for section in finding.sections)]
    body = markdown("\n\n".join(texts))
    return (
        f'<section id="{name}">\n<h2>{escaped(finding.claim)}</h2>\n<p>{_chip(finding)}</p>\n'
        f"{_picture(finding, module)}\n{body}\n</section>"
    )


def _chip(finding: Finding) -> str:
    kinds = {HOLDS: "good", HOLDS_IN_PART: "partly", FAILS: "bad"}
    kind = "mended" if "corrected" in finding.verdict else kinds.get(finding.verdict, "")
    kind = "bad" if "fails" in finding.verdict else kind
    return f'<span class="verdict {kind}">{escaped(finding.verdict)}</span>'


def _picture(finding: Finding, module: ModuleType) -> str:
    """The claim's picture as vectors, inside the page; none where there is nothing to draw."""
    if not finding.rows:
        return ""
    from matplotlib import rc_context

    looks = rc_context({
        "svg.fonttype": "none", "svg.hashsalt": "lessregret", "savefig.transparent": True
    })  # fmt: skip
    with tempfile.TemporaryDirectory() as folder, looks, in_a_column():
        path = Path(folder) / "picture.svg"
        module.draw(finding, str(path))
        return picture(path.read_bytes(), f"Picture: {finding.claim}")


def _lowered(section: str) -> str:
    """The section with its headings one level lower: the claim's own title is above them."""
    return "\n".join("#" + line if line.startswith("##") else line for line in section.split("\n"))


def _foot(command: str) -> str:
    return (
        f"<footer>Made by <code>{escaped(command)}</code>, lessregret {_core.__version__}. "
        "The paper: M. Streeter and H. B. McMahan, <em>Less Regret via Online Conditioning</em>, "
        "2010.</footer>"
    )
