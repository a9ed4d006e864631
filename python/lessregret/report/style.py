"""The design system of all pages: colours, type scale, spacing, tables, charts, print.

Colours and sizes are named once, in ``:root``; everything below uses the names. A page is light or
dark as the reader's system is, and light on paper. Below 34rem tables of many columns become one
block a row, with the heading of the column before each cell, and the names of a chart's lines stand
above it, so that nothing is cut on a phone. No text is smaller than 12 px.
"""

from __future__ import annotations

STYLE = """
:root { --ink: #1c2330; --soft: #5c6675; --line: #dfe3e8; --blue: #1f5f8b; --red: #b5492c;
        --green: #3f7d4e; --amber: #94690f; --violet: #7651a3; --teal: #2a747d;
        --paper: #fdfdfc; --shade: #f3f4f1; --alert: #faf1ee;
        --small: .8rem; --middle: .9rem; --large: 1.35rem; --gap: .75rem;
        --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
        color-scheme: light dark; }
@media screen and (prefers-color-scheme: dark) {
  :root { --ink: #e6e8eb; --soft: #a3adba; --line: #343b46; --blue: #7db8e8; --red: #f0937a;
          --green: #86c99a; --amber: #dcb35c; --violet: #c3a6e6; --teal: #79c4cd;
          --paper: #16191f; --shade: #232831; --alert: #33211c; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.6 var(--sans); }
main { max-width: 50rem; margin: 0 auto; padding: 3rem 1.25rem 5rem; }
h1 { font-size: 2.1rem; line-height: 1.2; margin: 0 0 .4rem; overflow-wrap: anywhere; }
h2 { font-size: var(--large); margin: 3rem 0 .3rem; padding-top: 1.2rem;
     border-top: 1px solid var(--line); }
h3 { font-size: 1.1rem; margin: 1.8rem 0 .4rem; }
h4 { font-size: 1rem; margin: 1.4rem 0 .3rem; color: var(--soft); }
p, li { max-width: 44rem; overflow-wrap: break-word; }
a { color: var(--blue); }
.lead { font-size: 1.05rem; color: var(--soft); margin-top: 0; overflow-wrap: anywhere; }
.soft { color: var(--soft); }
footer { margin-top: 4rem; font-size: var(--small); color: var(--soft); }
code, pre { font: .875em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
pre { background: var(--shade); border-radius: 6px; padding: .8rem 1rem; white-space: pre-wrap;
      overflow-wrap: anywhere; }
code { background: var(--shade); border-radius: 3px; padding: .05em .25em; }
pre code { padding: 0; background: none; }
pre.command span { display: inline-block; max-width: 100%; }
details { margin: .4rem 0 1rem; font-size: var(--middle); }
summary { cursor: pointer; color: var(--blue); padding: .3rem 0; }
.warning { border-left: 4px solid var(--red); background: var(--alert); padding: .6rem .9rem;
           border-radius: 0 6px 6px 0; overflow-wrap: anywhere; }

.tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(11.5rem, 1fr));
         gap: var(--gap); margin: 1.6rem 0 0; padding: 0; }
.tile { border: 1px solid var(--line); border-radius: 8px; padding: .7rem .9rem;
        background: var(--shade); }
.tile dt { font-size: var(--small); color: var(--soft); overflow-wrap: anywhere; }
.tile dd { margin: 0; }
.tile .value { font-size: var(--large); line-height: 1.4; font-variant-numeric: tabular-nums; }
.tile .note { font-size: var(--small); line-height: 1.4; color: var(--soft); }

.scroll { overflow-x: auto; margin: var(--gap) 0; }
table { border-collapse: collapse; font-size: var(--middle); line-height: 1.45; }
th, td { padding: .32rem .8rem .32rem 0; border-bottom: 1px solid var(--line);
         vertical-align: top; }
th { text-align: left; font-weight: 600; border-bottom: 2px solid var(--soft); }
th.right, td.right { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
th.right { white-space: normal; vertical-align: bottom; }
td { overflow-wrap: anywhere; }
tbody th { font-weight: 400; color: var(--soft); border-bottom: 1px solid var(--line); }
.facts th { padding-right: 1.4rem; }
.bars { width: 100%; }
.bars .track { width: 45%; min-width: 8rem; padding-right: 0; }
.track span { display: block; height: .8rem; margin-top: .25rem; border-radius: 2px; }
.track .above { background: var(--blue); } .track .below { background: var(--red); }
.track text { font: .8rem var(--sans); fill: var(--soft); }
.track svg { display: block; width: 100%; height: 1.3rem; overflow: visible; }

figure { margin: 1.2rem 0 .4rem; }
figcaption { font-size: var(--small); color: var(--soft); max-width: 44rem; margin-top: .5rem; }
.drawing svg { display: block; width: 100%; max-width: 31rem; height: auto; }
.drawing text { font-family: var(--sans) !important; fill: var(--ink); }
.chart .up, .chart .across { margin: 0; font-size: var(--small); color: var(--soft); }
.chart .across { text-align: right; margin-right: 10.5rem; }
.field { position: relative; padding: .6rem 10.5rem 1.6rem 3.4rem; }
.plot { position: relative; }
.plot > svg { display: block; width: 100%; overflow: visible; }
.plot text { font: .8rem var(--sans); fill: var(--soft); font-variant-numeric: tabular-nums; }
.plot .named { paint-order: stroke; stroke: var(--paper); stroke-width: 5px;
               stroke-linejoin: round; font-weight: 600; }
.plot polyline, .plot polygon { vector-effect: non-scaling-stroke; }
.ends { list-style: none; margin: 0; padding: 0; font-size: var(--small); line-height: 1.3; }
.ends li { position: absolute; left: calc(100% - 9.9rem); width: 9.9rem;
           overflow-wrap: anywhere; }
.ends b { font-weight: 600; }
.unseen, .ends .full { position: absolute; width: 1px; height: 1px; overflow: hidden;
                       clip-path: inset(50%); }
.tips i { position: absolute; top: 0; bottom: 0; }
.tips i:hover { border-left: 1px solid var(--soft); }
.tips span { position: absolute; left: .3rem; top: 0; max-width: 100%; visibility: hidden;
             z-index: 2; pointer-events: none; padding: .2rem .5rem; border-radius: 4px;
             background: var(--ink); color: var(--paper); font-size: var(--small);
             line-height: 1.4; white-space: pre-line; font-variant-numeric: tabular-nums; }
.tips i:hover + span { visibility: visible; }
.switch > input { margin: 0 .3rem 0 0; vertical-align: middle; }
.switch > label { font-size: var(--small); margin-right: 1rem; cursor: pointer; }
.switch > .choice { display: none; }
.switch > input:nth-of-type(1):checked ~ .choice:nth-of-type(1),
.switch > input:nth-of-type(2):checked ~ .choice:nth-of-type(2) { display: block; }

@media (max-width: 34rem) {
  main { padding-top: 1.6rem; }
  h1 { font-size: 1.6rem; }
  .tiles { grid-template-columns: 1fr 1fr; gap: .5rem; }
  .tile { padding: .55rem .7rem; }
  .field { padding-right: 0; }
  .chart .across { margin-right: 0; }
  .ends { margin: 0 0 .9rem -3.4rem; }
  .ends li { position: static; width: auto; padding-left: 1.6rem; text-indent: -1.6rem; }
  .ends li::before { content: ""; display: inline-block; width: 1.1rem; margin-right: .5rem;
                     border-top: 3px solid; vertical-align: middle; }
  .ends .dashed::before { border-top-style: dashed; border-top-width: 2px; }
  .ends .dots::before { width: .5rem; height: .5rem; border: 0; border-radius: 50%;
                        margin: 0 .8rem 0 .3rem; background: currentColor; }
  .ends .full { position: static; width: auto; height: auto; clip-path: none; }
  .ends .short { display: none; }
  .many thead { display: none; }
  .many, .many tbody, .many tr, .many td { display: block; width: auto; }
  .many tr { padding: .45rem 0; border-bottom: 1px solid var(--line); }
  .many td { display: flex; justify-content: space-between; gap: 1rem; border: 0;
             padding: .05rem 0; text-align: right; }
  .many td::before { content: attr(data-label); color: var(--soft); text-align: left;
                     white-space: normal; }
  .many td:first-child { font-weight: 600; }
  .bars.many tr { display: grid; grid-template-columns: 1fr auto; }
  .bars.many td::before { content: none; }
  .bars.many td.right { white-space: normal; }
  .bars.many .track { display: block; grid-column: 1 / 3; width: 100%; padding: .2rem 0; }
}
@media print {
  body { font-size: 10.5pt; }
  main { max-width: none; padding: 0; }
  figure, tr, .tile { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  .scroll { overflow: visible; }
  .switch > input, .switch > label { display: none; }
}
"""
