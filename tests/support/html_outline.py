"""A page as tests see it: closed tags, what it refers to, and its text."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

FETCHES = re.compile(r"url\(|@import|image-set\(")


class Outline(HTMLParser):
    """The ids, links and sources of a page; it fails where tags are not closed in order."""

    VOID = frozenset({"meta", "img", "br", "hr", "link", "input"})

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.sources: list[str] = []
        self.pictures: list[str] = []
        """what each picture shows, in words; the axes of one picture count once"""
        self.style = ""
        self.open: list[str] = []
        self.rows: list[list[str]] = []
        """the cells of all table rows"""
        self.tiles: list[str] = []
        """names, values and notes of the headline"""
        self.command = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {name: value or "" for name, value in attrs}
        assert not [name for name in named if name.startswith("on")]
        for kept, name in ((self.ids, "id"), (self.links, "href"), (self.sources, "src")):
            kept.extend([named[name]] if name in named else [])
        self.style += named.get("style", "")
        if named.get("role") == "img" and named["aria-label"] not in self.pictures:
            self.pictures.append(named["aria-label"])
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
        elif tag in ("dt", "dd"):
            self.tiles.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self.open:
            return
        if self.open[-1] == "style":
            self.style += data
        elif self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data
        elif self.open[-1] in ("dt", "dd"):
            self.tiles[-1] += data
        elif "pre" in self.open:
            self.command += data

    def check_that_it_is_one_file(self) -> None:
        """Everything is closed and inside, and nothing runs."""
        assert self.open == []
        assert "script" not in self.tags
        assert "link" not in self.tags
        assert all(link.startswith("#") for link in self.links)
        assert self.sources == []
        assert not FETCHES.search(self.style)

    def facts(self) -> dict[str, str]:
        """The rows of two cells."""
        return {row[0]: row[1] for row in self.rows if len(row) == 2}


def outline_of(name: str) -> Outline:
    """The page, checked for what holds of all pages."""
    outline = Outline(Path(name).read_text(encoding="utf-8"))
    outline.check_that_it_is_one_file()
    return outline
