"""Reports: a run as one HTML page that holds its numbers, pictures, settings and exact command.

This is the last stage: what was recorded of a run becomes a page, and nothing else is looked at, so
the same record gives the same page. ``train_report``, ``compare_report`` and ``regret_report`` make
a report of a run. A report is a title and sections; a section is a heading and parts: facts, tiles,
tables, pictures, bars, text and warnings (``parts.py``). How the run was made is written below by
the report itself (``page.py``). The colours, the frame of a page and the wording of numbers are
here too; the paper's page and the command line share them.

Names are imported when they are first used, so that the command line starts at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lessregret.report.compare import CompareRun as CompareRun
    from lessregret.report.compare import compare_report as compare_report
    from lessregret.report.page import DataFile as DataFile
    from lessregret.report.page import Origin as Origin
    from lessregret.report.page import Report as Report
    from lessregret.report.page import Section as Section
    from lessregret.report.page import data_section as data_section
    from lessregret.report.parts import Bar as Bar
    from lessregret.report.parts import Bars as Bars
    from lessregret.report.parts import Caution as Caution
    from lessregret.report.parts import Facts as Facts
    from lessregret.report.parts import Folded as Folded
    from lessregret.report.parts import Picture as Picture
    from lessregret.report.parts import Table as Table
    from lessregret.report.parts import Text as Text
    from lessregret.report.parts import Tile as Tile
    from lessregret.report.parts import Tiles as Tiles
    from lessregret.report.regret import RegretRun as RegretRun
    from lessregret.report.regret import regret_report as regret_report
    from lessregret.report.train import TrainRun as TrainRun
    from lessregret.report.train import train_report as train_report

_HOMES = {
    "Bar": "parts",
    "Bars": "parts",
    "Caution": "parts",
    "CompareRun": "compare",
    "DataFile": "page",
    "Facts": "parts",
    "Folded": "parts",
    "Origin": "page",
    "Picture": "parts",
    "RegretRun": "regret",
    "Report": "page",
    "Section": "page",
    "Table": "parts",
    "Text": "parts",
    "Tile": "parts",
    "Tiles": "parts",
    "TrainRun": "train",
    "compare_report": "compare",
    "data_section": "page",
    "regret_report": "regret",
    "train_report": "train",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
