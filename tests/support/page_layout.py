"""A page as it is laid out in a browser: what is too small, cut or without a name.

A script is put into a copy of the page, whose policy is taken off. It measures when the page is
loaded and leaves what it found in the page, so nothing waits.
"""

from __future__ import annotations

import html
import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

from lessregret.report.html_page import POLICY
from tests.support.browser import browsed

FRAME = """<!doctype html><html><body style="margin: 0">
<iframe id="page" scrolling="no" style="width: {width}px; height: 3000px; border: 0"
        srcdoc="{page}"></iframe>
<script>window.addEventListener("load", () => {{
  const found = document.createElement("pre");
  found.id = "found";
  found.textContent = document.getElementById("page").contentWindow.measure();
  document.body.replaceChildren(found);
}});</script></body></html>"""
"""A window of Chromium is at least 500 pixels wide; a frame in it may be narrower."""

MEASURE = """<script>function measure() {
  document.querySelectorAll("details").forEach((each) => { each.open = true; });
  const wide = document.documentElement.clientWidth;
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = { smallest: 99, page: document.documentElement.scrollWidth, wide, cut: [],
                  outside: [], unnamed: [], headings: [], labels: [] };
  const shown = (element) => element.getClientRects().length > 0;
  while (texts.nextNode()) {
    const inside = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || !shown(inside) || inside.closest("script, .unseen")) {
      continue;
    }
    const drawing = inside.closest(".drawing svg");
    const turned = drawing && inside.ownerSVGElement ? inside.getScreenCTM() : { a: 1, b: 0 };
    const scale = Math.hypot(turned.a, turned.b);
    const size = scale * parseFloat(getComputedStyle(inside).fontSize);
    if (size < found.smallest) { found.smallest = size; found.least = texts.currentNode.data; }
    const range = document.createRange();
    range.selectNodeContents(texts.currentNode);
    const box = range.getBoundingClientRect();
    if ((box.left < -1 || box.right > wide + 1) && !inside.closest(".full")) {
      found.outside.push(texts.currentNode.data);
    }
  }
  for (const each of document.querySelectorAll(".scroll")) {
    if (each.scrollWidth > each.clientWidth + 1) { found.cut.push(each.textContent.slice(0, 99)); }
  }
  for (const each of document.querySelectorAll("svg")) {
    const named = each.getAttribute("aria-label") || each.getAttribute("aria-hidden");
    if (!each.parentElement.closest("svg") && !named) { found.unnamed.push(each.outerHTML); }
  }
  for (const each of document.querySelectorAll("table")) {
    if (![...each.querySelectorAll("th")].every((th) => th.scope)) { found.unnamed.push("table"); }
  }
  for (const each of document.querySelectorAll("h1, h2, h3, h4")) {
    found.headings.push(Number(each.tagName[1]));
  }
  for (const list of document.querySelectorAll(".ends")) {
    const boxes = [...list.children].filter(shown).map((each) => each.getBoundingClientRect());
    boxes.forEach((a, k) => boxes.slice(k + 1).forEach((b) => {
      if (Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2) {
        found.labels.push(list.textContent);
      }
    }));
  }
  return JSON.stringify(found);
}</script></body>"""


def laid_out(browser: str, page: Path, width: int) -> dict[str, Any]:
    """What the script found in a page of this width, with all that can be opened open."""
    text = page.read_text(encoding="utf-8")
    assert POLICY in text
    opened = text.replace(POLICY, "").replace("</body>", MEASURE)
    frame = page.with_name(f"{page.stem}-{width}.html")
    frame.write_text(FRAME.format(width=width, page=html.escape(opened)), encoding="utf-8")
    shown, _ = browsed(browser, frame.parent, frame.name)
    found = re.search(r'<pre id="found">(.*?)</pre>', shown, re.DOTALL)
    assert found is not None, shown[:500]
    document: dict[str, Any] = json.loads(html.unescape(found[1]))
    return document


def check_layout(browser: str, page: Path) -> None:
    """No small letters, nothing cut or outside, all named, headings in order; wide and narrow."""
    for width in (1280, 400):
        found = laid_out(browser, page, width)
        assert found["wide"] == width
        assert found["page"] <= width, "the page is wider than the screen"
        assert found["smallest"] >= 11, found["least"]
        assert (found["cut"], found["outside"], found["unnamed"]) == ([], [], []), width
        assert found["labels"] == [], "names of lines lie over each other"
        levels = found["headings"]
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert all(later <= level + 1 for level, later in pairwise(levels))
