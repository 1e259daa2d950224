"""Checks the words of docstrings, names and pages; prints the figures, and exits with 1 if one is above its bound.

Bounds only go down: a change that lowers a figure lowers its bound in the same commit.
"""

from __future__ import annotations

import ast
import functools
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

QUESTION_WORDS = frozenset({"What", "Which", "Whether", "How", "Who", "Whose", "Whom", "Where", "When", "Why"})
"""Words that no docstring starts with."""
VAGUE_WORDS = ("what", "which", "whether", "those", "none", "nothing", "nobody")
"""Words counted per 10,000 words of docstrings."""
EVERYDAY_NAMES = frozenset({
    "ask", "at", "behind", "below", "forget", "goes", "hear", "hears", "held", "holds", "known", "learn", "look",
    "mean", "more", "of", "put", "said", "say", "says", "settle", "spoken", "take", "taken", "tell", "tells", "told",
    "trouble",
})  # fmt: skip
"""Public functions and classes are not named by one of these alone."""
SPELLINGS = {"time-out": "timeout", "call-back": "callback", "file name extension": "file extension"}
"""Terms of the glossary: a spelling that is not used, and the one that is."""
EXCEPTIONS: dict[str, str] = {}
"""`path:name` of an everyday name that stays, with its reason; fewer than 20."""
FOREIGN_WORDS = frozenset({
    # examples of names that others chose
    "call_1", "client_to_server", "c2s", "files__", "inbound", "lint", "_name_", "NAME__",
    "x",
    # programs, files, modules and types of others
    "AnyValue", "AppMutex", "EX_SOFTWARE", "ExportTracePartialSuccess", "filelock", "https_proxy", "jq",
    "model_prices_and_context_window", "node_modules", "recv",
    # endings of names
    "_s",
})  # fmt: skip
"""Words between backquotes in docstrings and comments that are no names of this code base."""
EXAMPLES = "inspector/protocol/secrets/"
"""A folder with examples of secrets' names in its docstrings; names there are not checked."""
BOUNDS = {
    "modules": 1.0, "classes": 1.0, "functions": 1.0,
    "what": 8.0, "which": 12.0, "whether": 2.0, "those": 3.0, "none": 46.0, "nothing": 4.0, "nobody": 1.0,
    "names": 0.0, "spellings": 0.0, "unknown": 0.0, "silenced": 0.0,
}  # fmt: skip
"""Highest allowed figures: percent of docstrings by sort, words per 10,000, counts of all others."""

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_WORD = re.compile(r"[A-Za-z_]\w*")
_PROSE = re.compile(r'""".*?"""|#[^\n]*', re.DOTALL)
_COMMENT = re.compile(r"(?:^|\s)# (.*)")
_MENTION = re.compile(r"(?<![`\w])`([A-Za-z_]\w*(?:\.\w+)*)(?:\(\))?`(?![`\w])")
_CONSTANT = re.compile(r"(?<![\w./:%-])([A-Z][A-Z0-9]+_[A-Z0-9_]+)\b")
_SILENCED = re.compile(r"# (?:noqa|(?:type|pyright): ignore)\b(?!.* - \w)")
_OTHERS = re.compile(r"[a-z]\w*[A-Z]|ai\.|Q[A-Z]|mcp_\w*_")  # members of JSON, span names, names of Qt, tools
_LIBRARIES = frozenset({"numpy", "re2", "duckdb", "str"})
_Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


class ModuleWords:
    """Words of one module's code, local and imported names included; collected when asked for."""

    def __init__(self, source: str) -> None:
        self._source = source

    @functools.cached_property
    def words(self) -> frozenset[str]:
        """All words outside of docstrings and comments."""
        return frozenset(_WORD.findall(_PROSE.sub("", self._source)))


@dataclass(frozen=True, slots=True)
class Mention:
    """A name between backquotes."""

    path: str
    line: int
    name: str
    module: ModuleWords


@dataclass(slots=True)
class Figures:
    """Counts over all files read."""

    docstrings: Counter[str] = field(default_factory=Counter[str])  # by sort: modules, classes, functions
    questions: Counter[str] = field(default_factory=Counter[str])  # of these, how many start with a question word
    words: int = 0  # of all docstrings
    vague: Counter[str] = field(default_factory=Counter[str])
    names: list[str] = field(default_factory=list[str])  # `path:name`
    spellings: list[str] = field(default_factory=list[str])  # `path: spelling`
    openings: list[str] = field(default_factory=list[str])  # `path:line` of a docstring that starts with one
    silenced: list[str] = field(default_factory=list[str])  # `path:line` of an ignored rule without a reason
    declared: set[str] = field(default_factory=set[str])  # names of the code, and words that its strings consist of
    mentioned: list[Mention] = field(default_factory=list[Mention])  # names in docstrings and comments

    @property
    def unknown(self) -> list[str]:
        """`path:line: name` of each mentioned name that nothing has."""
        return [
            f"{mention.path}:{mention.line}: {mention.name}"
            for mention in sorted(self.mentioned, key=lambda mention: (mention.path, mention.line))
            if any(part not in self.declared and part not in mention.module.words for part in mention.name.split("."))
        ]

    def values(self) -> dict[str, float]:
        """Returns each figure by the name of its bound."""
        shares = {sort: 100 * self.questions[sort] / max(1, self.docstrings[sort]) for sort in _SORTS.values()}
        rates = {word: 1e4 * self.vague[word] / max(1, self.words) for word in VAGUE_WORDS}
        lists = {"names": self.names, "spellings": self.spellings, "unknown": self.unknown, "silenced": self.silenced}
        return {**shares, **rates, **{name: float(len(found)) for name, found in lists.items()}}


_SORTS = {"Module": "modules", "ClassDef": "classes", "FunctionDef": "functions", "AsyncFunctionDef": "functions"}


def read_module(path: str, source: str, figures: Figures) -> None:
    """Adds the docstrings and names of one module to the figures.

    Args:
        path: how findings name the file.
        source: its Python source. Raises SyntaxError if it is none.
        figures: changed in place.
    """
    tree = ast.parse(source)
    nodes = list(ast.walk(tree))
    documented = [node for node in nodes if isinstance(node, (*_FUNCTIONS, ast.ClassDef, ast.Module))]
    local = {id(inner) for node in documented if isinstance(node, _FUNCTIONS) for inner in _inner_nodes(node)}
    for node in documented:
        is_public = not isinstance(node, ast.Module) and id(node) not in local
        if is_public and node.name in EVERYDAY_NAMES and f"{path}:{node.name}" not in EXCEPTIONS:
            figures.names.append(f"{path}:{node.name}")
        text = ast.get_docstring(node)
        if text:
            _read_docstring(path, node, text, figures)
    _read_names(path, source, nodes, figures)
    figures.silenced += [
        f"{path}:{number}" for number, line in enumerate(source.split("\n"), 1) if _SILENCED.search(line)
    ]


def _read_names(path: str, source: str, nodes: list[ast.AST], figures: Figures) -> None:
    """Adds the names that a module declares, and those that its docstrings and comments mention."""
    figures.declared.update(_WORD.findall(path))
    comments = ((number, _COMMENT.search(line)) for number, line in enumerate(source.split("\n"), 1) if "#" in line)
    texts = [(number, comment[1]) for number, comment in comments if comment]
    for node in nodes:
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            figures.declared.add(node.name)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            figures.declared.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if " " not in node.value:
                figures.declared.update(_WORD.findall(node.value))
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            texts.append((node.lineno, _CONSTANT.sub(r"`\1`", node.value.value)))
        if isinstance(node, (ast.Module, ast.ClassDef)):
            figures.declared.update(_assigned_names(node.body))
    if path.startswith(EXAMPLES):
        return
    module = ModuleWords(source)
    for line, text in texts:
        for found in _MENTION.finditer(text):
            first = found[1].split(".")[0]
            if first not in sys.stdlib_module_names | _LIBRARIES | FOREIGN_WORDS and not _OTHERS.match(found[1]):
                number = line + text.count("\n", 0, found.start())
                figures.mentioned.append(Mention(path, number, found[1], module))


def _assigned_names(body: Iterable[ast.stmt]) -> Iterator[str]:
    for statement in body:
        if isinstance(statement, (ast.If, ast.Try)):
            yield from _assigned_names([*statement.body, *statement.orelse])
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        for target in targets:
            parts = target.elts if isinstance(target, ast.Tuple) else [target]
            yield from (part.id for part in parts if isinstance(part, ast.Name))


def _inner_nodes(function: ast.AST) -> Iterator[ast.AST]:
    nodes = ast.walk(function)
    next(nodes)  # the function itself
    return nodes


def _read_docstring(path: str, node: _Documented, text: str, figures: Figures) -> None:
    sort = _SORTS[type(node).__name__]
    figures.docstrings[sort] += 1
    opening = re.match(r"\W*(\w+)", text)
    if opening and opening[1] in QUESTION_WORDS:
        figures.questions[sort] += 1
        line = 1 if isinstance(node, ast.Module) else node.lineno
        figures.openings.append(f"{path}:{line}")
    words = re.findall(r"[a-z']+", text.lower())
    figures.words += len(words)
    figures.vague.update(word for word in words if word in VAGUE_WORDS)


def read_page(path: str, text: str, figures: Figures) -> None:
    """Adds the spellings of a page or module that the glossary has otherwise."""
    lower = text.lower()
    figures.spellings += [f"{path}: {wrong}" for wrong in SPELLINGS if wrong in lower]


def read_tree(root: Path) -> Figures:
    """Returns the figures of a checkout: `inspector/`, and the pages beside it."""
    figures = Figures()
    for path in _files(root, ["inspector/**/*.py"]):
        source = path.read_text(encoding="utf-8")
        read_module(path.relative_to(root).as_posix(), source, figures)
        read_page(path.relative_to(root).as_posix(), source, figures)
    for path in _files(root, ["docs/**/*.md", "*.md"]):
        read_page(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8"), figures)
    return figures


def _files(root: Path, patterns: Iterable[str]) -> Iterator[Path]:
    for pattern in patterns:
        yield from sorted(root.glob(pattern))


def above_bounds(figures: Figures) -> list[str]:
    """Returns the names of figures above their bounds."""
    return [name for name, value in figures.values().items() if round(value, 1) > BOUNDS[name]]


def main() -> int:
    """Prints the figures of this checkout; with `-v` also each place. Returns the exit code."""
    figures = read_tree(Path(__file__).resolve().parent.parent)
    for name, value in figures.values().items():
        print(f"{name:>12}: {value:6.1f}  (at most {BOUNDS[name]:.1f})")
    if "-v" in sys.argv[1:]:
        print(*figures.openings, *figures.names, *figures.spellings, sep="\n")
    for place in figures.unknown:
        print(f"no such name: {place}")
    for place in figures.silenced:
        print(f"no reason beside noqa or ignore: {place}")
    high = above_bounds(figures)
    if high:
        print(f"words: above the bound: {', '.join(high)}; CONTRIBUTING.md has the rules, -v lists the places")
    return 1 if high else 0


if __name__ == "__main__":
    sys.exit(main())
