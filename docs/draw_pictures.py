"""Draw the pictures of the explanation pages: ``python docs/draw_pictures.py``.

They are SVG, which is text; the same numbers give the same file with the same matplotlib. It takes
some minutes, most of them for table2.
"""

from __future__ import annotations

import os
from pathlib import Path

os.environ["SOURCE_DATE_EPOCH"] = "0"

import matplotlib as mpl
from draw_click_ranks import draw as draw_click_ranks

from lessregret.data.datasets import DataHome
from lessregret.paper import module_of
from lessregret.paper.finding import Request

FOLDER = Path(__file__).parent / "pictures"
CLAIMS = ("tradeoff", "theorem1", "theorem3", "lemma2", "table2")


def main() -> None:
    mpl.rcParams["svg.hashsalt"] = "lessregret"
    mpl.rcParams["svg.fonttype"] = "none"
    FOLDER.mkdir(exist_ok=True)
    for name in CLAIMS:
        module = module_of(name)
        finding = module.run(Request(DataHome(Path())), lambda what: None)
        module.draw(finding, str(FOLDER / f"{name}.svg"))
    draw_click_ranks(str(FOLDER / "click-ranks.svg"))


if __name__ == "__main__":
    main()
