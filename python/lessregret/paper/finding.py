"""What re-running a claim of the paper gives: a verdict, rows, and text to read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lessregret.data.datasets import DataHome

HOLDS = "holds"
FAILS = "fails here"
HOLDS_IN_PART = "holds in part"
FAILS_AS_PRINTED = "fails as printed"


def holds_as_corrected(*errata: str) -> str:
    """The verdict on a claim that holds once its errata are mended."""
    return f"holds as corrected ({', '.join(errata)})"


@dataclass(frozen=True)
class Request:
    """How to re-run a claim."""

    home: DataHome
    shuffles: int = 20
    seed: int = 0
    examples: int = 1_000_000
    """in each simulated log"""


@dataclass(frozen=True)
class Finding:
    """A claim of the paper, re-run."""

    claim: str
    verdict: str
    rows: list[dict[str, Any]]
    sections: list[str] = field(default_factory=list)
    """Markdown, to be read in order"""
    not_run: list[str] = field(default_factory=list)
    """what could not be run, and why"""
    data: dict[str, Any] = field(default_factory=dict)
    """what the picture is drawn from; not part of the JSON"""
    conditions: str = ""
    """what must be known to read the verdict, in whole sentences"""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "claim": self.claim,
            "verdict": self.verdict,
            "conditions": self.conditions,
            "rows": self.rows,
            "not_run": self.not_run,
        }

    def markdown(self) -> str:
        """The finding as a page."""
        verdict = f"**Verdict: {self.verdict}.** {self.conditions}".rstrip()
        parts = [f"# {self.claim}", verdict, *self.sections]
        return "\n\n".join(parts) + "\n"


def table(heading: list[str], rows: list[list[str]]) -> str:
    """A Markdown table, its first column to the left, the others to the right."""
    rule = ["---", *["---:"] * (len(heading) - 1)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [heading, rule, *rows])


def bullets(claims: Mapping[str, bool]) -> str:
    """What held and what did not, a line each."""
    return "\n".join(f"- {claim}: **{HOLDS if held else FAILS}**" for claim, held in claims.items())
