"""What MkDocs does not do by itself: navigation, links into the repository, and the gallery.

- The navigation is that of ``docs/index.md``, so that there is one list of pages. A page that the
  list forgets is a warning, and warnings are errors.
- Pages link to files outside ``docs/``, so that they can be read in a checkout. On the site such a
  link leads to the file in the repository, if the file exists; if not, MkDocs warns.
- The gallery holds reports as the commands write them, from runs made while the site is built.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
LINK = re.compile(r"(?<=\]\()((?:\.\./)+[^()\s]+)(?=\))")
SECTION = re.compile(r"^\*\*(.+)\*\*$")
ENTRY = re.compile(r"^- \[(.+?)\]\((.+?)\)")
ROLE = re.compile(r":(?:func|class|meth|attr|mod):<code>~?(?:[\w.]*\.)?(\w+)</code>")
"""a reference in a docstring, as ``help`` shows it"""
DATA = "generate clicks --examples 50000 --output clicks.vw"
REPORTS = {
    "train": "train clicks.vw --names --quiet --report train.html",
    "compare": "compare clicks.vw --rules per-coordinate,ftrl,cw,pa --report compare.html",
    "regret": "regret clicks.vw --radius 1 --bits 18 --rules per-coordinate,global:rate=theory "
    "--gap 1e-3 --report regret.html",
}


def on_config(config: Any) -> Any:
    """The sections and pages of ``index.md``, the gallery, and every decision."""
    nav: list[Any] = [{"Home": "index.md"}]
    for line in (DOCS / "index.md").read_text(encoding="utf-8").splitlines():
        if section := SECTION.match(line):
            nav.append({section[1]: []})
        elif (entry := ENTRY.match(line)) and not entry[2].startswith("decisions/"):
            next(iter(nav[-1].values())).append({entry[1]: entry[2]})
    decisions = sorted(path.name for path in (DOCS / "decisions").glob("0*.md"))
    pages = [f"decisions/{name}" for name in ("README.md", *decisions)]
    config["nav"] = [*nav, {"Gallery": "gallery.md"}, {"Decisions": pages}]
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the gallery: a page, and the reports that it names."""
    with tempfile.TemporaryDirectory() as folder:
        for command in (DATA, *REPORTS.values()):
            _run(command, folder)
        for name in REPORTS:
            report = Path(folder, f"{name}.html").read_bytes()
            files.append(File.generated(config, f"gallery/{name}.html", content=report))
    files.append(File.generated(config, "gallery.md", content=_gallery()))
    return files


def _run(command: str, folder: str) -> None:
    program = [sys.executable, "-m", "lessregret.cli", *command.split()]
    done = subprocess.run(program, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"lessregret {command}: {done.stderr}")


def _gallery() -> str:
    parts = [
        "# Gallery\n\nReports as the commands write them, each one file that fetches nothing. They"
        " were made when this site was built, from 50,000 simulated ad impressions:\n\n"
        f"```console\n$ lessregret {DATA}\n```\n"
    ]
    for name, command in REPORTS.items():
        about = f"## `{name}`\n\n```console\n$ lessregret {command}\n```\n"
        parts.append(f"{about}\n[Open the report](gallery/{name}.html)\n")
    return "\n".join(parts)


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Lead links that leave ``docs/`` to the repository."""
    here = (DOCS / page.file.src_uri).parent

    def led(link: re.Match[str]) -> str:
        target = (here / link[1].partition("#")[0]).resolve()
        if target.is_relative_to(DOCS) or not target.is_relative_to(ROOT) or not target.exists():
            return link[1]
        kind = "tree" if target.is_dir() else "blob"
        return f"{config['repo_url']}/{kind}/main/{target.relative_to(ROOT).as_posix()}"

    return LINK.sub(led, markdown)


def on_page_content(html: str, page: Any, config: Any, files: Any) -> str:
    """Show the references of docstrings by their last name."""
    return ROLE.sub(r"<code>\1</code>", html)
