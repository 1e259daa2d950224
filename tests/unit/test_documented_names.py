"""Names that docstrings list under Attributes, Signals and Args exist."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

SOURCES = Path(__file__).parents[2] / "inspector"
_SECTION = re.compile(r"^(Attributes|Signals|Args|Raises|Returns|Yields):$")
_LISTS = re.compile(r"^ +(?:Attributes|Signals|Args):$", re.MULTILINE)
_LISTED = re.compile(r"^    ([a-z_]\w*(?:, [a-z_]\w*)*)(?:\([^)]*\))?:")


def listed_names(docstring: str, sections: tuple[str, ...]) -> Iterator[str]:
    section = ""
    for line in docstring.splitlines():
        if found := _SECTION.match(line):
            section = found[1]
        elif section in sections and (found := _LISTED.match(line)):
            yield from found[1].split(", ")


def names_in(node: ast.AST) -> Iterator[str]:
    for one in ast.walk(node):
        if isinstance(one, ast.Attribute):
            yield one.attr
        elif isinstance(one, ast.Name):
            yield one.id
        elif isinstance(one, ast.arg):
            yield one.arg
        elif isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
            yield one.name


def definitions(node: ast.AST) -> Iterator[ast.AST]:
    """Yields classes and functions at any depth; they are statements, so expressions are left out."""
    for one in ast.iter_child_nodes(node):
        if isinstance(one, ast.stmt | ast.excepthandler | ast.match_case):
            yield one
            yield from definitions(one)


def unknown_names(tree: ast.Module) -> Iterator[str]:
    for node in definitions(tree):
        if isinstance(node, ast.ClassDef):
            listed = [*listed_names(ast.get_docstring(node) or "", ("Attributes", "Signals", "Args"))]
            if not listed:
                continue
            known = set(names_in(node))
            # Attributes of a base class in the same file count too.
            known |= {
                name
                for base in node.bases
                for other in tree.body
                for name in names_in(other)
                if isinstance(base, ast.Name) and isinstance(other, ast.ClassDef) and other.name == base.id
            }
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            listed = [*listed_names(ast.get_docstring(node) or "", ("Args",))]
            if not listed:
                continue
            known = {one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg)}
        else:
            continue
        yield from (f"{node.name}: {name}" for name in listed if name not in known)


def test_listed_names_exist() -> None:
    unknown = {
        f"{path.relative_to(SOURCES)}: {one}"
        for path in SOURCES.rglob("*.py")
        if _LISTS.search(text := path.read_text("utf-8"))
        for one in unknown_names(ast.parse(text))
    }
    assert unknown == set()


def test_an_old_name_is_found() -> None:
    text = 'class A:\n    """A.\n\n    Attributes:\n        old, new: two.\n    """\n\n    new = 1\n'
    assert list(unknown_names(ast.parse(text))) == ["A: old"]
