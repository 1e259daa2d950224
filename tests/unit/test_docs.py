"""The pages say what is so: generated ones are current, links lead somewhere, commands and paths exist."""

from __future__ import annotations

import ast
import itertools
import re
import shlex
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
import typer
import typer.main

from inspector.filters import compile_filter
from inspector.filters.page import page as filter_page
from inspector.startup.program import app
from inspector.tables.reference_page import render_page as tables_page
from tests.pages import GUIDE, PAGES, ROOT, anchors, links, name_of, script

_GROUP: Any = typer.main.get_command(app)
_CONTEXT = typer.Context(_GROUP)
_COMMANDS = {name: _GROUP.get_command(_CONTEXT, name) for name in _GROUP.list_commands(_CONTEXT)}


def test_the_filter_reference_is_current() -> None:
    assert (ROOT / "docs/filter.md").read_text(encoding="utf-8") == filter_page(), "make docs"


def test_the_page_about_tables_is_current() -> None:
    assert (ROOT / "docs/tables.md").read_text(encoding="utf-8") == tables_page(), "make docs"


def test_the_page_about_commands_is_current() -> None:
    made = script("packaging/commands_page.py").page()
    assert (ROOT / "docs/commands.md").read_text(encoding="utf-8") == made, "make docs"


def test_the_page_about_formats_is_current() -> None:
    made = script("packaging/formats_page.py").page()
    assert (ROOT / "docs/what-it-reads.md").read_text(encoding="utf-8") == made, "make docs"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    lost: list[str] = []
    for link in links(page):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = unquote(link).partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            lost.append(link)
    assert not lost


# Pages that are named anywhere: in the guide, in code, in recipes

_FOLDERS = ("inspector", "tests", "docs", "packaging", "resources", ".ci", ".github")
_TEXTS = frozenset(
    {"", ".iss", ".lark", ".md", ".ps1", ".py", ".sh", ".spec", ".toml", ".txt", ".xml", ".yaml", ".yml"}
)
_TRAFFIC = ROOT / "tests/data"
"""What lies here names files of its own."""
_PAGE = re.compile(r"(?<![\w/.:{}*<>-])(?:\.{1,2}/)*((?:[\w.-]+/)*[\w-]+\.md)\b")
_SECTIONS = re.compile(r"docs/(protocols|design)\.md((?:(?:,| and| to)? \d+)+)")
_ELSEWHERE = {"guide/README.md": "docs/README.md", "inspector/_resources/guide/SECURITY.md": "SECURITY.md"}
"""What a page is called where the folder docs is called otherwise: in packages it is the guide."""


def _words(path: Path) -> str:
    """What a file says to its readers; of code its docstrings and comments, as its texts may be traffic."""
    text = path.read_text(encoding="utf-8")
    if ".md" not in text:
        return ""
    if path.suffix != ".py":
        return re.sub(r"\b\w+://\S+", "", text)
    statements = (node.value for node in _statements(ast.parse(text)) if isinstance(node, ast.Expr))
    docstrings = (one.value for one in statements if isinstance(one, ast.Constant) and isinstance(one.value, str))
    return "\n".join((*docstrings, *re.findall(r"(?:^|\s)#(.*\.md.*)", text)))


def _statements(of: ast.AST) -> Iterator[ast.stmt]:
    """Everything of some code that is a statement; expressions, which are most of it, are not gone through."""
    for blocks in (getattr(of, name, ()) for name in ("body", "orelse", "finalbody", "handlers", "cases")):
        for one in blocks if isinstance(blocks, list) else ():
            if isinstance(one, ast.stmt):
                yield one
            yield from _statements(one)


@cache
def _readable() -> dict[str, str]:
    """What every file of the repository that can name a page says, by its path from the root."""
    files = [path for path in ROOT.iterdir() if path.is_file() and path.name not in (".git", ".coverage")]
    files += [path for folder in _FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file()]
    texts = (path for path in files if path.suffix in _TEXTS and "__pycache__" not in path.parts)
    words = {name_of(path): _words(path) for path in texts if path.suffix == ".md" or _TRAFFIC not in path.parents}
    return {name: text for name, text in words.items() if ".md" in text}


def test_pages_that_are_named_are_in_the_repository() -> None:
    known = [f"/{name_of(page)}" for page in PAGES]
    assert len(_readable()) > 100
    lost: list[str] = []
    for file, text in _readable().items():
        named = {name: f"/{_ELSEWHERE.get(name, name)}" for name in _PAGE.findall(text)}
        lost += [f"{file}: {name}" for name, end in named.items() if not any(page.endswith(end) for page in known)]
    assert lost == []


def test_sections_that_are_named_are_there() -> None:
    lost: list[str] = []
    for file, text in _readable().items():
        for page, numbers in _SECTIONS.findall(text):
            there = re.findall(r"^## (\d+)\. ", _readable()[f"docs/{page}.md"], re.MULTILINE)
            lost += [f"{file}: docs/{page}.md {one}" for one in re.findall(r"\d+", numbers) if one not in there]
    assert lost == []


def test_the_index_lists_every_page() -> None:
    listed = {(ROOT / "docs" / link).resolve() for link in links(ROOT / "docs/README.md") if "#" not in link}
    assert {page for page in (ROOT / "docs").glob("*.md") if page.name != "README.md"} <= listed


def _command_lines(page: Path) -> list[list[str]]:
    """Every line of a page that calls the program with a command and options, as words."""
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    fenced = "\n".join(re.findall(r"^```\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    inline = "\n".join(re.findall(r"`([^`\n]+)`", text))
    lines: list[list[str]] = []
    for line in f"{fenced}\n{inline}".splitlines():
        found = re.search(r"(?:^|[\s/(])context-inspector( [^\"']*(?:[\"'].*)?)$", line.replace("$(", "("))
        if found is None:
            continue
        said = re.sub(r"\)\"\s*(#.*)?$", "", found[1]).replace("[", " ").replace("]", " ").replace("...", "")
        try:
            words = shlex.split(said, comments=True)
        except ValueError:
            words = said.split()
        lines.append(list(itertools.takewhile(lambda word: word not in ("|", ">", "&&"), words)))
    return lines


@pytest.mark.parametrize("page", GUIDE, ids=name_of)
def test_commands_and_their_options_exist(page: Path) -> None:
    for words in _command_lines(page):
        named = words[0] if words else ""
        # Anything that is no command is a file or an address for the window.
        is_command = re.fullmatch(r"[a-z][a-z-]*", named) is not None
        assert not is_command or named in _COMMANDS, words
        command = _COMMANDS[named if is_command else "window"]
        if inner := getattr(command, "commands", None):  # a command of commands: only its help stands for itself
            if len(words) == 1 or words[1].startswith("-"):
                continue
            assert words[1] in inner or words[1] == "COMMAND" or "|" in words[1], words
            command = inner.get(words[1], command)
        known = {name for one in command.params for name in (*getattr(one, "opts", ()), *one.secondary_opts)}
        known |= {name for one in _GROUP.params for name in one.opts} | {"--help", "--"}
        if "--" in words:
            words = words[: words.index("--")]
        for word in words:
            if re.fullmatch(r"--?[A-Za-z][\w-]*", word):
                assert word in known, words


@pytest.mark.parametrize("page", GUIDE, ids=name_of)
def test_filters_given_to_commands_are_filters(page: Path) -> None:
    for words in _command_lines(page):
        for option, value in itertools.pairwise(words):
            if option == "-Y" and value != "FILTER":
                assert compile_filter(value).expression is not None, words


def test_filters_of_the_page_about_filters_are_filters() -> None:
    text = (ROOT / "docs/search-and-filter.md").read_text(encoding="utf-8")
    shown = re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE)
    assert len(shown) > 5
    for filter_ in shown:
        assert compile_filter(filter_.replace("\\|", "|")).expression is not None, filter_


_FOR_CONTRIBUTORS = [ROOT / "docs/architecture.md", ROOT / "docs/where-to-add.md", ROOT / "CONTRIBUTING.md"]


@pytest.mark.parametrize("page", _FOR_CONTRIBUTORS, ids=name_of)
def test_paths_and_declarations_named_for_contributors_exist(page: Path) -> None:
    for line in page.read_text(encoding="utf-8").splitlines():
        named = re.findall(r"`([^`]+)`", line)
        for path in named:
            if re.fullmatch(r"([\w.-]+/)*([\w-]+\.(py|md|toml)|\w+/)", path):
                bases = (ROOT, ROOT / "inspector")
                assert any((base / path).exists() for base in bases) or _is_a_module(path), path
        for declared in (one for one in named if re.fullmatch(r"_?[A-Z][A-Z_]+", one)):
            assert _is_declared(declared), declared


def _is_a_module(name: str) -> bool:
    """Whether it is the name of a module, said beside the folder it is in."""
    return "/" not in name and any((ROOT / "inspector").rglob(name))


def _is_declared(name: str) -> bool:
    declaration = re.compile(rf"^{name}\b.* = ", re.MULTILINE)
    return any(
        declaration.search(source) for folder in ("inspector", "packaging", "tests") for source in _sources(folder)
    )


def test_modules_named_in_the_source_exist() -> None:
    rooms = "|".join(path.parent.name for path in (ROOT / "inspector").glob("*/__init__.py"))
    named = re.compile(rf"`(?:inspector\.)?((?:{rooms})(?:\.\w+)+)`")
    found = {name for source in _sources("inspector") for name in named.findall(source)}
    assert len(found) > 20
    assert sorted(name for name in found if not _is_in_the_source(name)) == [], "named somewhere in inspector/"


def _is_in_the_source(name: str) -> bool:
    """Whether it is a module, or a word of the deepest module on its way."""
    place = ROOT / "inspector"
    for part in name.split("."):
        if (place / part).is_dir():
            place = place / part
        elif (place / f"{part}.py").is_file():
            place = place / f"{part}.py"
        else:
            module = place if place.is_file() else place / "__init__.py"
            return re.search(rf"\b{part}\b", module.read_text(encoding="utf-8")) is not None
    return True


@cache
def _sources(folder: str) -> list[str]:
    return [path.read_text(encoding="utf-8") for path in (ROOT / folder).rglob("*.py")]


def test_rooms_of_the_page_are_folders() -> None:
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    table = text.partition("## Rooms")[2].partition("\n## ")[0]
    named = [name for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)]
    assert len(named) > 15
    for name in named:
        assert any((ROOT / "inspector" / path).exists() for path in (f"{name}.py", name)), name


def test_classes_and_methods_of_the_architecture_page_exist() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in _FOR_CONTRIBUTORS)
    holding: defaultdict[str, list[str]] = defaultdict(list)
    for source in _sources("inspector"):
        for name in re.findall(r"^class (\w+)", source, re.MULTILINE):
            holding[name].append(source)
    for name, method in set(re.findall(r"`([A-Z][a-z]\w+)(?:\.(\w+))?`", text)):
        assert name in holding
        if method:
            needed = rf"\bdef {method}\b|^    {method} = Signal|^    {method}: "
            assert any(re.search(needed, source, re.MULTILINE) for source in holding[name]), f"{name}.{method}"


def test_no_sentence_names_a_class() -> None:
    """A renaming tool once replaced a word of a sentence that users read."""
    sources = [source for folder in ("inspector", "packaging") for source in _sources(folder)]
    names = {name for source in sources for name in re.findall(r"^ *class (\w*[a-z][A-Z]\w*)", source, re.MULTILINE)}
    lines = [line for source in sources for line in source.splitlines() if '"' in line and '"""' not in line]
    texts = [text for line in lines for text in re.findall(r'"([^"]*)"', re.sub(r"\{[^{}]*\}", "", line))]
    sentences = [text for text in texts if re.search(r"\w [a-z]", text)]
    assert min(len(names), len(sentences)) > 500
    assert [text for text in sentences if names & set(re.findall(r"\w+", text))] == []
