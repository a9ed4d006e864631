"""Is the documentation true?

Every page under ``docs/`` and every page at the root is run, in a folder of its own:

- a ``console`` block holds lines ``$ command`` with what the command shows below them. A line
  ``...`` stands for any lines, ``...`` in a line for anything. A command that shows an error must
  fail, any other must not;
- ``python`` blocks run in order, in one namespace a page; a ``text`` block right after one is what
  it prints;
- ``<!-- needs: MODULE -->`` anywhere skips the page where that module is not installed;
- ``<!-- data: FILE -->`` anywhere puts a file of the data home into the folder, and skips the page
  where it is not there;
- ``<!-- not run: reason -->`` just above a block leaves it alone; ``<!-- file: NAME -->`` writes it
  to a file that the rest of the page can use;
- ``<!-- runs with: MODULE -->`` just above a block runs it where that module is installed. What it
  prints is shown in a ``text`` block as for any other.

A page that compares says ``There: 12 lines.`` and ``Here: 2 lines.`` above blocks of code.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import importlib.util
import inspect
import io
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

import lessregret
from lessregret import errors
from lessregret.cli import run
from lessregret.data.streams import open_examples
from lessregret.learners.losses import LOSSES
from lessregret.learners.rules import RULES
from lessregret.learners.space import FeatureSpace
from tests.support.data_home import file_or_skip

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
REFERENCE = DOCS / "reference"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NEEDS = re.compile(r"<!-- needs: (\w+) -->")
DATA = re.compile(r"<!-- data: (\S+) -->")
COMMENT = re.compile(r"<!-- (not run|file|runs with): (.+?) -->\n$")
COUNTED = re.compile(
    r"^(?:There|Here): (\d+) lines?\.\n\n(?:<!-- .+? -->\n)?```\w+\n(.*?)^```$", re.M | re.S
)
LINK = re.compile(r"\[[^\]]*\]\(([^()\s]+)\)")
SECONDS = re.compile(r'(?<="seconds": )[\d.]+|\d+(\.\d+)?(?= s\b)|[\d,]+(?= examples a second)')
ERROR = re.compile(r"^(lessregret: error|Error): ", re.MULTILINE)
SIGNATURE = re.compile(r"^- `([\w.]+)(\(.*\))?`", re.MULTILINE)
ROW = re.compile(r"^\| `(.+?)` +\| `(.+?)` +\|$", re.MULTILINE)
REFUSED = re.compile(r"^\| `(.+?)` \| [^\n]+? \| `(\d+: expected .+?)` \| .+ \|$", re.MULTILINE)


class Block(NamedTuple):
    """A fenced block of a page."""

    language: str
    text: str
    line: int
    order: str
    """"", "file", "not run" or "runs with\""""
    argument: str
    touches: bool
    """whether only blank lines stand between it and the block before"""


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    end = 0
    for fence in FENCE.finditer(text):
        before = text[end : fence.start()]
        comment = COMMENT.search(before)
        order, argument = comment.groups() if comment else ("", "")
        line = text.count("\n", 0, fence.start()) + 1
        yield Block(fence[1], fence[2], line, order, argument, not before.strip())
        end = fence.end()


def has_something_to_run(page: Path) -> bool:
    return any(b.language in ("console", "python") and b.order != "not run" for b in blocks(page))


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", list(filter(has_something_to_run, PAGES)), ids=name_of)
def test_pages_show_what_happens(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(page, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    monkeypatch.setenv("COLUMNS", "80")
    namespace: dict[str, Any] = {"__name__": "__main__"}
    printed: str | None = None
    for block in blocks(page):
        place = f"{name_of(page)}:{block.line}"
        if printed is not None and block.language == "text" and block.touches:
            assert_shown(block.text, printed, f"{place} (the python block before it)")
        printed = None
        if block.order == "file":
            Path(block.argument).write_text(block.text, encoding="utf-8")
        elif block.order == "not run" or is_missing(block):
            continue
        elif block.language == "console":
            run_console(block, place)
        elif block.language == "python":
            printed = run_python(block, page, namespace)


def prepare(page: Path, folder: Path) -> None:
    """Put the data of a page into its folder; skip it where they or a module are not there."""
    text = page.read_text(encoding="utf-8")
    for module in NEEDS.findall(text):
        pytest.importorskip(module, reason=f"{name_of(page)} needs {module}")
    for name in DATA.findall(text):
        shutil.copy(file_or_skip(name), folder)


def is_missing(block: Block) -> bool:
    """Whether a block needs a module that is not installed."""
    return block.order == "runs with" and importlib.util.find_spec(block.argument) is None


def test_lines_are_counted_as_shown() -> None:
    found = [
        (name_of(page), int(said), sum(bool(line.strip()) for line in code.splitlines()))
        for page in PAGES
        for said, code in COUNTED.findall(page.read_text(encoding="utf-8"))
    ]
    assert len({page for page, *_ in found}) >= 3
    assert [each for each in found if each[1] != each[2]] == []


def run_console(block: Block, place: str) -> None:
    for step in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, shown = re.fullmatch(r"((?:[^\n]*\\\n)*[^\n]*)\n(.*)", step, re.DOTALL).groups()  # type: ignore[union-attr]
        done = subprocess.run(
            ["bash", "-c", command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
        assert_shown(shown, done.stdout, f"{place}: {command}")
        fails = bool(ERROR.search(shown)) and "$?" not in command
        assert (done.returncode != 0) == fails, f"{place}: exit code {done.returncode}: {command}"


def run_python(block: Block, page: Path, namespace: dict[str, Any]) -> str:
    # Blank lines above make tracebacks name the line of the page.
    code = compile("\n" * block.line + block.text, str(page), "exec")
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(code, namespace)
    return printed.getvalue()


def assert_shown(shown: str, happened: str, place: str) -> None:
    """Compare text with what a page shows of it."""
    expected, found = tidy(shown), tidy(happened)
    pattern = "".join(map(line_pattern, expected.splitlines()))
    if not re.fullmatch(pattern, found):
        pytest.fail(f"{place}\n--- shown\n{expected}\n--- happened\n{found}", pytrace=False)


def line_pattern(line: str) -> str:
    if line == "...":
        return r"(?:.*\n)*?"
    return re.escape(line).replace(r"\.\.\.", ".*?") + r"\n"


def tidy(text: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in SECONDS.sub("0", text).splitlines())


@pytest.mark.parametrize("rule", RULES)
def test_the_entry_of_a_rule_stands_alone(rule: str) -> None:
    page = (REFERENCE / "rules.md").read_text(encoding="utf-8")
    entry = page.split(f"\n## `{rule}`\n")[1].split("\n## ")[0]
    assert re.findall(r"\bas (?:for|above|before|in `)|\bas `.*` does|the sum above", entry) == []
    for part in ("Plays", "Slot", "Bound", "Source", "Departs"):
        assert f"- **{part}** " in entry, part


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for link in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
        if re.match(r"https?:|mailto:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{name_of(page)}: {link}"
        if anchor:
            assert anchor in anchors(target), f"{name_of(page)}: {link}"


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives to the headings of a page."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [*DOCS.rglob("*.md")], ids=name_of)
def test_one_word_for_one_idea(page: Path) -> None:
    strays = re.findall(r"(?i)\b(?:optimi[sz]er|solver|updater)s?\b", page.read_text("utf-8"))
    assert not strays


def test_the_index_names_every_page() -> None:
    index = DOCS / "index.md"
    linked = {(DOCS / link).resolve() for link in LINK.findall(index.read_text("utf-8"))}
    kinds = ("tutorial", "how-to", "reference", "explanation")
    pages = {page.resolve() for kind in kinds for page in (DOCS / kind).glob("*.md")}
    assert pages <= linked


def test_every_page_is_reached_from_the_index() -> None:
    reached, waiting = set[Path](), [DOCS / "index.md"]
    while waiting:
        page = waiting.pop()
        reached.add(page)
        links = LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8")))
        targets = {(page.parent / link.partition("#")[0]).resolve() for link in links}
        waiting += [each for each in targets if each.suffix == ".md" and each not in reached]
    assert set(DOCS.rglob("*.md")) <= reached


def test_the_cli_reference_is_fresh() -> None:
    from docs.generate_cli_reference import PAGE, render

    assert PAGE.read_text(encoding="utf-8") == render(), "run docs/generate_cli_reference.py"


# --- the Python API ----------------------------------------------------------------------------


def documented_names() -> dict[str, str]:
    text = (REFERENCE / "python-api.md").read_text(encoding="utf-8")
    return dict(SIGNATURE.findall(text))


def test_the_python_api_is_complete() -> None:
    names = documented_names()
    public = {name for name in names if "." not in name}
    assert public == set(lessregret.__all__)
    for name in sorted(public):
        missing = own_members(getattr(lessregret, name)) - names.keys()
        assert not missing, f"{name}: {missing}"


def test_the_docstrings_of_all_names_are_on_the_site() -> None:
    page = (REFERENCE / "docstrings.md").read_text(encoding="utf-8")
    shown = re.findall(r"^::: lessregret\.(\w+)$", page, re.MULTILINE)
    assert shown == [name for name in lessregret.__all__ if name != "__version__"]


def own_members(thing: Any) -> set[str]:
    """What a class of ours adds: methods, properties and class methods, not fields."""
    if not isinstance(thing, type) or issubclass(thing, Exception):
        return set()
    owners = [owner for owner in thing.__mro__ if owner.__module__.startswith("lessregret")]
    # What rules share is told once, at Rule.
    if issubclass(thing, lessregret.Rule) and thing is not lessregret.Rule:
        return set()
    kinds = (property, classmethod, staticmethod)
    return {
        f"{thing.__name__}.{name}"
        for owner in owners
        for name, member in vars(owner).items()
        if not name.startswith("_")
        and (inspect.isfunction(member) or isinstance(member, kinds) or hasattr(member, "fn"))
    }


@pytest.mark.parametrize(("name", "signature"), list(documented_names().items()))
def test_signatures_are_right(name: str, signature: str) -> None:
    thing = find(name)
    if signature:
        assert signature == signature_of(thing)


def find(name: str) -> Any:
    """The thing that a dotted name means, in lessregret or in one of its modules."""
    parts = name.split(".")
    thing: Any = lessregret
    if parts[0] == "lessregret":
        thing, parts = module_and_rest(parts)
    for part in parts:
        thing = (
            inspect.getattr_static(thing, part) if inspect.isclass(thing) else getattr(thing, part)
        )
    return thing


def module_and_rest(parts: list[str]) -> tuple[ModuleType, list[str]]:
    """The innermost module that a dotted name leads to, and the rest, which is never nothing."""
    for end in range(len(parts) - 1, 0, -1):
        with contextlib.suppress(ModuleNotFoundError):
            return importlib.import_module(".".join(parts[:end])), parts[end:]
    raise AssertionError(f"no module: {'.'.join(parts)}")


def signature_of(thing: Any) -> str:
    """The signature without annotations and self."""
    function = getattr(thing, "__func__", getattr(thing, "fn", thing))
    signature = inspect.signature(function)
    given = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for name, parameter in signature.parameters.items()
        if name not in ("self", "cls")
    ]
    bare = signature.replace(parameters=given, return_annotation=inspect.Signature.empty)
    return str(bare).replace("'", '"')


# --- rules, losses, errors, formats, fields ----------------------------------------------------


def section(page: str, heading: str) -> str:
    """The text under a heading of a reference page, its own subsections included."""
    text = (REFERENCE / page).read_text(encoding="utf-8")
    found = re.search(rf"^(#+) {re.escape(heading)}$\n(.*?)(?=^\1 |\Z)", text, re.M | re.S)
    assert found, f"{page} has no section {heading}"
    return found[2]


@pytest.mark.parametrize("name", RULES)
def test_rules_are_documented(name: str) -> None:
    told = section("rules.md", f"`{name}`")
    for field in dataclasses.fields(RULES[name]):
        assert f"`{field.name}`" in told
        if field.name not in ("radius", "box"):
            assert re.search(rf"\| `{field.name}` \|.*\| {as_told(field.default)} \|", told)
    for field_name in RULES[name].empty._fields:  # type: ignore[attr-defined]
        assert f"`{field_name}`" in told


def as_told(default: float | str | None) -> str:
    if default is None:
        return "[^|]+"  # in words: it depends on another parameter
    return f'`"{default}"`' if isinstance(default, str) else f"{default:g}"


@pytest.mark.parametrize("name", LOSSES)
def test_losses_are_documented(name: str) -> None:
    assert f"| `{name}` |" in section("rules.md", "Losses")


def test_errors_are_documented() -> None:
    page = (REFERENCE / "errors.md").read_text(encoding="utf-8")
    for name, thing in vars(errors).items():
        if isinstance(thing, type) and issubclass(thing, errors.LessRegretError):
            assert f"`{name}`" in page
    for error in (thing for thing in errors.LessRegretError.__subclasses__()):
        assert error.__name__ in page


@pytest.mark.parametrize("grammar", ["svmlight", "vw"])
def test_bad_lines_are_told_as_shown(grammar: str, tmp_path: Path) -> None:
    rows = ROW.findall(section("formats.md", f"Errors of {grammar}"))
    assert rows
    for written, told in rows:
        assert error_of(written, grammar, tmp_path) == told.replace(r"\|", "|"), written


def test_refused_lines_of_vowpal_wabbit_are_told_as_shown(tmp_path: Path) -> None:
    page = (DOCS / "how-to" / "move-from-vowpal-wabbit.md").read_text(encoding="utf-8")
    table = page.split("\n## Lines that are refused\n")[1]
    rows = REFUSED.findall(table)
    assert len(rows) == table.count("\n| `") > 10
    for written, told in rows:
        assert error_of(written, "vw", tmp_path) == told.replace(r"\|", "|"), written


def error_of(written: str, grammar: str, folder: Path) -> str:
    """What is said of a line, from the column on."""
    line = written.replace(r"\|", "|")
    for escape, character in ((r"\t", "\t"), (r"\r", "\r"), (r"\0", "\0")):
        line = line.replace(escape, character)
    file = folder / "line"
    file.write_text(f"{line}\n", encoding="utf-8", newline="")
    stream = open_examples([str(file)], FeatureSpace(bits=18), format=grammar)
    with pytest.raises(errors.InputError) as caught:
        next(iter(stream))
    return str(caught.value).removeprefix(f"{file}:1:")


@pytest.mark.parametrize(
    "arguments",
    [
        ["train", "log.vw", "--model", "m", "--certify", "--names", "--quiet", "--json"],
        ["predict", "m", "log.vw", "--json"],
        ["convert", "log.vw", "--output", "log.arrow", "--quiet", "--json"],
        ["inspect", "m", "--weights", "1", "--json"],
        ["demo", "--examples", "1000", "--json"],
        ["compare", "log.vw", "--rules", "pa", "--json"],
        ["regret", "log.vw", "--json"],
        ["data", "--data", ".", "--json"],
        ["paper", "table1", "--data", ".", "--shuffles", "1", "--json"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_json_fields_are_documented(
    arguments: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("log.vw").write_text("1 |a b\n-1 |a c\n")
    Path("libsvm").mkdir()
    # A set whose content is not checked, so that the table has rows.
    Path("libsvm/news20.binary").write_text("1 1:1\n-1 2:1\n")
    if arguments[0] != "train":
        assert run(["train", "log.vw", "--model", "m", "--names", "--quiet"]) == 0
    assert run(arguments) == 0
    told = section("ledger.md", f"`{arguments[0]} --json`")
    documented = set(re.findall(r"^\| `(\w+)` \|", told, re.MULTILINE))
    assert documented == set(fields_of(json.loads(capsys.readouterr().out)))


def fields_of(document: dict[str, Any]) -> Iterator[str]:
    """The fields of a document and of the rows in it; spec and tally have tables of their own."""
    for name, value in document.items():
        yield name
        if isinstance(value, list) and value and isinstance(value[0], dict):
            yield from fields_of(value[0])


def test_every_ledger_number_is_documented() -> None:
    page = (REFERENCE / "ledger.md").read_text(encoding="utf-8")
    ledger = lessregret.ReadableLearner("hinge", lessregret.PerCoordinate()).ledger()
    for name in ledger.as_dict():
        assert f"| `{name}` |" in page


def test_the_pairs_of_vowpal_wabbits_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the page says that both report; Vowpal Wabbit is asked only where it is installed."""
    page = (DOCS / "how-to" / "move-from-vowpal-wabbit.md").read_text(encoding="utf-8")
    pairs = re.findall(r"^\| `(.+?)` \| `(.+?)` \| (0\.\d+) \|$", page, re.MULTILINE)
    assert pairs
    monkeypatch.chdir(tmp_path)
    assert run(["generate", "clicks", "--examples", "20000", "--output", "train.vw"]) == 0
    for theirs, ours, loss in pairs:
        capsys.readouterr()
        assert run(["train", "train.vw", "--quiet", "--json", *ours.split()]) == 0
        found = json.loads(capsys.readouterr().out)["mean_loss"]
        assert f"{found:.6f}" == loss, ours
        if importlib.util.find_spec("vowpalwabbit"):
            assert average_loss_of_vw(theirs) == loss, theirs


def average_loss_of_vw(options: str) -> str:
    command = [sys.executable, "-m", "vowpalwabbit", "-d", "train.vw", "-b", "22", *options.split()]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    told = re.search(r"average loss = ([\d.]+)", done.stdout + done.stderr)
    assert told
    return told[1]


def test_the_game_is_documented() -> None:
    from lessregret.game import algorithms, domains, problems

    page = (REFERENCE / "game.md").read_text(encoding="utf-8")
    told = set(re.findall(r"`(\w+)", page))
    kinds = {
        name
        for name, thing in vars(problems).items()
        if isinstance(thing, type) and issubclass(thing, problems.Problem)
    }
    sets = {
        name
        for name, thing in vars(domains).items()
        if isinstance(thing, type) and issubclass(thing, domains.Domain)
    }
    bases = {"Algorithm", "OneDimensional", "Seen", "Problem", "Domain"}
    assert (set(algorithms.__all__) | kinds | sets) - bases <= told
