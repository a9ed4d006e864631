"""Simulated logs of ad clicks, of any length, from a world whose truth is known.

Real click logs are secret or large. This package makes one that anybody can make again: a
`ClickWorld` is a handful of parameters and a seed; all else follows from them.

    ClickWorld ─▶ Market     what there is: queries, ads, advertisers, which ads answer which query
               ─▶ Truth      the hidden weights, most of them zero; with drift, an Era of them after
                             another
               ─▶ Numbering  a column for every feature
               ─▶ impressions(world, n) ─▶ Block ─▶ vw_lines, libsvm_lines, csv_lines, csr_rows

A page is one query and the `POSITIONS` ads that won its auction; an impression is one ad on one
page. It is clicked with probability 1 / (1 + exp(-margin)), the margin being an intercept and the
hidden weights of just those features that its line of text names. So the truth is a linear model
over the log's own features, and `Block.entropy` is the least log loss any predictor can expect.

Costs: a world is built once, in memory that grows with its queries and ads; a log takes the memory
of one block however long it is. Blocks are drawn from generators keyed by their number, so a short
log is the beginning of a longer one and any part can be made without what precedes it.

`PHRASES` are nine worlds after the paper's Table 2. `docs/explanation/click-simulator.md` says what
is realistic here and what is not.
"""

from lessregret.data.generate.csv_text import CSV_HEADER, csv_lines
from lessregret.data.generate.libsvm_text import libsvm_lines
from lessregret.data.generate.log import Block, binary_entropy, impressions
from lessregret.data.generate.market import Market
from lessregret.data.generate.numbering import Numbering
from lessregret.data.generate.pages import IMPRESSIONS_PER_DRAW, PAGES_PER_DRAW, POSITIONS
from lessregret.data.generate.phrases import PHRASES, phrase_world
from lessregret.data.generate.rows import csr_rows, rows
from lessregret.data.generate.text import FORMATS, log_text
from lessregret.data.generate.truth import Truth
from lessregret.data.generate.vw_text import vw_lines
from lessregret.data.generate.world import LIMITS, ClickWorld

__all__ = [
    "CSV_HEADER",
    "FORMATS",
    "IMPRESSIONS_PER_DRAW",
    "LIMITS",
    "PAGES_PER_DRAW",
    "PHRASES",
    "POSITIONS",
    "Block",
    "ClickWorld",
    "Market",
    "Numbering",
    "Truth",
    "binary_entropy",
    "csr_rows",
    "csv_lines",
    "impressions",
    "libsvm_lines",
    "log_text",
    "phrase_world",
    "rows",
    "vw_lines",
]
