"""Is a page safe to open, whatever is written on it?"""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from lessregret.data.output import write_file
from lessregret.report.chart import COLOURS
from lessregret.report.html_page import as_svg, document, markdown, picture, table
from lessregret.report.palette import PAGE_COLOURS, PER_COORDINATE
from lessregret.report.style import STYLE
from tests.support.html_outline import Outline

NASTY = {
    '<script>alert("x")</script>': '<script>alert("x")</script>',
    "a & b's": "a & b's",
    "\x00\x1b[31m": r"\x00\x1b[31m",
    "\u202eabc": r"\u202eabc",
    "\udcff": r"\udcff",
    "日本": "日本",
}
"""what someone wrote, and what a reader sees"""


@pytest.mark.parametrize(("text", "seen"), NASTY.items(), ids=ascii)
def test_any_text_is_shown_and_not_obeyed(text: str, seen: str, tmp_path: Path) -> None:
    body = table([text, "n"], [[text, text]]) + picture(b"<svg/>", text, text)
    page = document(text, body)
    write_file(tmp_path / "page.html", page.encode())
    outline = Outline(page)
    outline.check_that_it_is_one_file()
    assert outline.rows == [[seen, "n"], [seen, seen]]


def luminance(colour: str) -> float:
    """The relative luminance of WCAG 2.2."""
    shares = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_what_is_behind_it(scheme: str) -> None:
    light, dark = (
        dict(re.findall(r"--(\w+): (#\w{6});", part)) for part in STYLE.split("@media")[:2]
    )
    assert light.keys() == dark.keys()
    colours = light if scheme == "light" else dark
    texts = [("ink", "shade"), ("soft", "shade"), ("ink", "alert")]
    texts += [(text, "paper") for text in ("ink", "soft", *COLOURS)]
    faint = [pair for pair in texts if contrast(colours[pair[0]], colours[pair[1]]) < 4.5]
    assert not faint, "WCAG 2.2, 1.4.3, wants 4.5"


def test_drawings_have_the_colours_of_the_style() -> None:
    light = dict(re.findall(r"--(\w+): (#\w{6});", STYLE.split("@media")[0]))
    named = {name: colour for colour, name in PAGE_COLOURS.items() if colour not in ("#000000",)}
    del named["paper"]
    assert {name: light[name] for name in named} == named


def test_markdown_has_no_html_of_its_own() -> None:
    assert "<b>" not in markdown("<b>bold</b>")
    assert '<div class="scroll"><table>' in markdown("| a |\n| --- |\n| 1 |")
    many = markdown("| a | `b` | c |\n| --- | --- | --- |\n| 1 | 2 | 3 |")
    assert '<table class="many">' in many
    assert '<td data-label="b">2</td>' in many


def test_a_picture_says_neither_when_nor_who() -> None:
    from matplotlib.figure import Figure

    def drawn() -> bytes:
        figure = Figure()
        figure.subplots().plot([1, 2], [3, 4])
        return as_svg(figure)

    svg = drawn()
    assert svg == drawn()
    assert ElementTree.fromstring(svg).tag == "{http://www.w3.org/2000/svg}svg"
    assert not [word for word in (b"<dc:date>", b"Matplotlib v", b"<script") if word in svg]


def test_a_drawing_is_in_the_page_in_its_colours_and_apart_from_others() -> None:
    from matplotlib.figure import Figure

    pages = []
    for height in (3, 4):
        figure = Figure()
        axes = figure.subplots()
        axes.plot([1, 2], [3, height], "o-", color=PER_COORDINATE)
        axes.set_title("a name")
        pages.append(picture(as_svg(figure), "about"))
    for page in pages:
        Outline(page)
        assert "stroke: var(--blue)" in page
        assert ">a name</text>" in page, "text stays text"
        assert not re.search(r": #[0-9a-f]{6}", page), "a colour without a name would not turn dark"
    first, second = (set(re.findall(r' id="([^"]+)"', page)) for page in pages)
    assert first
    assert not first & second
    assert set(re.findall(r"#(\w+)", pages[0])) <= first
