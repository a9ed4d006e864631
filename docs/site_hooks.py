"""What MkDocs does not do by itself: navigation, links into the repository, and the gallery.

- The navigation is that of ``docs/index.md``, so that there is one list of pages. A page that the
  list forgets is a warning, and warnings are errors.
- Pages link to files outside ``docs/``, so that they can be read in a checkout. On the site such a
  link leads to the file in the repository, if the file exists; if not, MkDocs warns.
- The gallery holds reports as the commands write them, from runs made while the site is built. They
  are kept in ``target/gallery`` until the package changes.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

from lessregret.data.datasets import DataHome
from lessregret.paper import module_of
from lessregret.paper.finding import Request
from lessregret.paper.page import write_page

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

DEMO = "demo --examples 50000 --picture demo.png"
PAPER = "lessregret paper all --out paper"
CLAIMS = ("tradeoff", "theorem2", "theorem3", "lemma1", "lemma2")
"""those that need no data and take seconds; all eleven take two minutes"""
ABOUT = {
    "train": "A run of the default learner: its loss, calibration, largest weights, and what is "
    "certified.",
    "compare": "Four rules on the same examples, and how sure the differences between them are.",
    "regret": "What two rules lost beyond the best fixed model, and what is proved of it.",
    "paper": "Claims of the paper, run again, with verdicts that are computed: five of the eleven "
    "that the command runs.",
    "demo": "Two rules of the paper and the default learner on one log.",
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
    """Add the gallery: a page, and the reports and pictures that it names."""
    folder = _built()
    for name in (*REPORTS, "paper"):
        report = (folder / f"{name}.html").read_bytes()
        files.append(File.generated(config, f"gallery/{name}.html", content=report))
    picture = (folder / "demo.png").read_bytes()
    files.append(File.generated(config, "gallery/demo.png", content=picture))
    files.append(File.generated(config, "gallery.md", content=_gallery()))
    return files


def _built() -> Path:
    """The folder of the reports; they are made again where the sources have changed since.

    They are too long to wait for at every change of a page.
    """
    folder = ROOT / "target" / "gallery" / _fingerprint()
    if folder.exists():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        for command in (DATA, *REPORTS.values(), DEMO):
            _run(command, scratch)
        _write_paper(Path(scratch))
        Path(scratch).rename(folder)
        Path(scratch).mkdir()  # What the context manager removes.
    return folder


def _write_paper(folder: Path) -> None:
    """The page of `paper all`, of the claims that take seconds."""
    request = Request(DataHome(folder), shuffles=1, seed=0, examples=1000)
    modules = {name: module_of(name) for name in CLAIMS}
    findings = {name: module.run(request, lambda _: None) for name, module in modules.items()}
    write_page(folder / "paper.html", findings, modules, PAPER)


def _fingerprint() -> str:
    """The version of what makes the reports: the package, its extension module among it."""
    digest = hashlib.sha256(Path(__file__).read_bytes())
    for path in sorted((ROOT / "python" / "lessregret").rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


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
        about = f"## `{name}`\n\n{ABOUT[name]}\n\n```console\n$ lessregret {command}\n```\n"
        parts.append(f"{about}\n[Open the report](gallery/{name}.html)\n")
    parts.append(
        f"## `paper`\n\n{ABOUT['paper']}\n\n```console\n$ {PAPER}\n```\n\n"
        "[Open the page](gallery/paper.html)\n"
    )
    parts.append(
        f"## `demo`\n\n{ABOUT['demo']}\n\n```console\n$ lessregret {DEMO}\n```\n\n"
        "![Mean loss and regret of five learners on a simulated click log](gallery/demo.png)\n"
    )
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
