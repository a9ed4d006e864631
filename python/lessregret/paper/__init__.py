"""The paper's claims, one a module, re-run.

CLAIMS["table1"]     ─▶  module with run(request) ─▶ Finding, and draw(finding, path)
"""

from __future__ import annotations

CLAIMS = {
    "table1": "Table 1 (§5.1): hinge loss and mistakes of Global, Per-Coord, CW and PA on text.",
}
"""Every claim by its name, in one line; ``lessregret.paper.NAME`` is its module."""
