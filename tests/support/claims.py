"""Re-run a claim of the paper that needs no data, and look at its pictures."""

from __future__ import annotations

import json
from pathlib import Path

from lessregret.data.datasets import DataHome
from lessregret.paper import module_of
from lessregret.paper.finding import Finding, Request

REQUEST = Request(DataHome(Path("no-such-folder")))


def rerun(name: str) -> Finding:
    """The finding, with the default seed; its rows must survive JSON."""
    finding: Finding = module_of(name).run(REQUEST)
    assert json.loads(json.dumps(finding.as_dict()))["rows"] == finding.rows
    return finding


def check_pictures(name: str, finding: Finding, folder: Path) -> None:
    """Draw the claim's picture in both formats."""
    for ending, opening in (("png", b"\x89PNG"), ("svg", b"<?xml")):
        path = folder / f"{name}.{ending}"
        module_of(name).draw(finding, str(path))
        assert path.read_bytes().startswith(opening)
