"""A run as one HTML page that holds everything: numbers, pictures, settings, the exact command.

A report is a title and sections; a section is a heading and parts: facts, tiles, tables, pictures,
bars, text and warnings (``parts``). How the run was made is written below by the report itself
(``page``). ``train_report``, ``compare_report`` and ``regret_report`` turn what was recorded of a
run into a report and look at nothing else, so the same record gives the same page.
"""

from lessregret.report.compare import CompareRun, compare_report
from lessregret.report.page import DataFile, Origin, Report, Section, data_section
from lessregret.report.parts import (
    Bar,
    Bars,
    Caution,
    Facts,
    Folded,
    Picture,
    Table,
    Text,
    Tile,
    Tiles,
)
from lessregret.report.regret import RegretRun, regret_report
from lessregret.report.train import TrainRun, train_report

__all__ = [
    "Bar",
    "Bars",
    "Caution",
    "CompareRun",
    "DataFile",
    "Facts",
    "Folded",
    "Origin",
    "Picture",
    "RegretRun",
    "Report",
    "Section",
    "Table",
    "Text",
    "Tile",
    "Tiles",
    "TrainRun",
    "compare_report",
    "data_section",
    "regret_report",
    "train_report",
]
