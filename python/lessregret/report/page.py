"""A report: a title, sections, and below them how the run was made."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from importlib.metadata import version
from typing import NamedTuple

from lessregret import _core
from lessregret.data.output import write_file
from lessregret.report.html_page import document, escaped
from lessregret.report.parts import Caution, Facts, Part, Table
from lessregret.report.wording import counted

LIBRARIES = ("numpy", "scipy", "matplotlib")


@dataclass(frozen=True)
class Origin:
    """How a run was made; it names no machine and no user."""

    command: str
    """as typed, quoted for a shell"""
    made: str
    versions: Mapping[str, str]

    @classmethod
    def now(cls, command: str) -> Origin:
        """A run of this moment, on this machine."""
        made = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
        versions = {
            "lessregret": _core.__version__,
            "Python": platform.python_version(),
            **{name: version(name) for name in LIBRARIES},
            "system": f"{platform.system()}, {platform.machine()}",
        }
        return cls(command, made, versions)


@dataclass(frozen=True)
class Section:
    """A heading and parts; without a heading it goes on from what stands above."""

    title: str
    parts: Sequence[Part]

    def html(self) -> str:
        """The section as HTML."""
        heading = [f"<h2>{escaped(self.title)}</h2>"] if self.title else []
        inside = "\n".join([*heading, *(part.html() for part in self.parts)])
        return f"<section>\n{inside}\n</section>"


@dataclass(frozen=True)
class Report:
    """A run as one page.

    >>> origin = Origin("lessregret train log.vw", "2024-01-31 12:00 UTC", {"Python": "3.13"})
    >>> report = Report("Title", "What it is about", [Section("Part", [Caution("1 < 2")])], origin)
    >>> "1 &lt; 2" in report.html()
    True
    """

    title: str
    lead: str
    """one line of plain text under the title"""
    sections: Sequence[Section]
    origin: Origin

    def html(self) -> str:
        """The page."""
        parts = [f'<h1>{escaped(self.title)}</h1>\n<p class="lead">{escaped(self.lead)}</p>']
        parts += [section.html() for section in self.sections]
        return document(self.title, "\n".join([*parts, self._made()]))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the page; the file is afterwards whole, or as it was."""
        write_file(path, self.html().encode())

    def _made(self) -> str:
        facts = Facts([("date", self.origin.made), *self.origin.versions.items()])
        return (
            "<section>\n<h2>How this page was made</h2>\n"
            f'<pre class="command"><code>{self._command()}</code></pre>\n'
            f"{facts.html()}\n</section>"
        )

    def _command(self) -> str:
        """The command, broken between words and not after the hyphens of options."""
        words = self.origin.command.split(" ")
        return " ".join(f"<span>{escaped(word)}</span>" for word in words)


class DataFile(NamedTuple):
    """A file of examples as the user named it."""

    name: str
    size: int | None
    """in bytes; None for a pipe"""

    @classmethod
    def of(cls, name: str) -> DataFile:
        """The file with its size."""
        return cls(name, os.path.getsize(name) if os.path.isfile(name) else None)


def data_section(
    files: Sequence[DataFile], facts: Facts, skipped: int, first: str | None
) -> Section:
    """What was read: the files, facts about them, and what was wrong with them."""
    rows = [[_name(file), "–" if file.size is None else f"{file.size:,}"] for file in files]
    parts: list[Part] = [Table(["file", "bytes"], rows), facts]
    if skipped:
        told = f"; the first: {first}" if first else ""
        parts.append(Caution(f"{counted(skipped, 'bad line')} skipped{told}"))
    return Section("Data", parts)


def about_data(files: Sequence[DataFile]) -> str:
    """The data in a few words, for a title."""
    return os.path.basename(_name(files[0])) if len(files) == 1 else counted(len(files), "file")


def _name(file: DataFile) -> str:
    return "standard input" if file.name == "-" else file.name
