"""Declarations of a plug-in besides formats: checks, fields, payload views and their parts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from string import Formatter
from typing import Any, Literal

from inspector.analysis.passes.plain_messages import Message

API_VERSION = 1
"""Version of `inspector.plugin`; raised when something in it changes or goes."""

_CODE = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")
_FIELD = re.compile(r"[a-z][a-z0-9_]{0,29}(?:\.[a-z][a-z0-9_]{0,29}){1,3}")
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,59}")
_MAX_TEXT = 1_000
_PLACEHOLDERS = frozenset({"detail", "who", "to", "kind", "call", "context", "subject"})
_TYPES = ("text", "whole number", "number", "yes or no")


class PluginError(Exception):
    """A plug-in cannot be used; the message is a sentence's end."""


def require_api(version: int) -> None:
    """Raises PluginError unless this program has at least this version of the API.

    Args:
        version: the `API_VERSION` that the plug-in was written for.
    """
    if version > API_VERSION:
        raise PluginError(f"it needs version {version} of the API; this program has {API_VERSION}")


def _require_text(owner: str, **texts: object) -> None:
    for name, text in texts.items():
        if not isinstance(text, str) or not text.strip() or len(text) > _MAX_TEXT:
            raise PluginError(f"the {name} of {owner} is no text of 1 to {_MAX_TEXT:,} characters")


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One finding of a check.

    Attributes:
        number: number of the message, from 1; one of the given messages or an earlier one.
        detail: `{detail}` of the sentence; at most 160 characters are kept.
    """

    number: int
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A check over messages.

    Attributes:
        code: name in filters and reports, as `robot-falls`.
        severity: `note`, `warning` or `error`.
        title: the problem, in a few words.
        sentence: sentence about one finding; may name {detail}, {who}, {to}, {kind}, {call}, {context} and {subject}.
        matters: effect of the problem.
        fix: remedy.
        find: receives new messages in order, each once, and a dict that the check keeps for this document. Returns the
            problems.
        kinds: only messages of these kinds are given; () for all.
        source: document that the rule comes from.
    """

    code: str
    severity: Literal["note", "warning", "error"]
    title: str
    sentence: str
    matters: str
    fix: str
    find: Callable[[Sequence[Message], dict[str, Any]], Iterable[Problem]]
    kinds: Sequence[str] = ()
    source: str = "a plug-in"

    def validate(self) -> None:
        """Raises PluginError if the declaration cannot be used."""
        if not isinstance(self.code, str) or not _CODE.fullmatch(self.code):
            raise PluginError(f"{str(self.code)[:60]!r} is no code of a check: use a-z, 0-9 and -")
        if self.severity not in ("note", "warning", "error"):
            raise PluginError(f"the severity of {self.code} is none of note, warning, error")
        texts = {name: getattr(self, name) for name in ("title", "sentence", "matters", "fix", "source")}
        _require_text(self.code, **texts)
        for name, text in texts.items():
            try:
                named = {field for _, field, _, _ in Formatter().parse(text) if field is not None}
            except ValueError as error:
                raise PluginError(f"the {name} of {self.code} has a wrong placeholder: {error}") from None
            if named - _PLACEHOLDERS:
                raise PluginError(f"the {name} of {self.code} names {{{min(named - _PLACEHOLDERS)[:40]}}}, which is "
                                  f"none of {', '.join(sorted(_PLACEHOLDERS))}")  # fmt: skip
        if not callable(self.find):
            raise PluginError(f"find of {self.code} is no function")
        _require_names(f"the kinds of {self.code}", self.kinds)


def _require_names(what: str, names: object) -> None:
    if not isinstance(names, list | tuple) or not all(isinstance(one, str) for one in names):
        raise PluginError(f"{what} are no list of texts")


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field of filters, columns, exports and `--fields`.

    Attributes:
        name: as `robot.battery`; needs a dot, so that it never hides a built-in field.
        type: `text`, `whole number`, `number` or `yes or no`.
        label: title of its column.
        help: one sentence.
        value: returns the value of a message, or None; must depend on the message alone.
    """

    name: str
    type: Literal["text", "whole number", "number", "yes or no"]
    label: str
    help: str
    value: Callable[[Message], object]

    def validate(self) -> None:
        """Raises PluginError if the declaration cannot be used."""
        if not isinstance(self.name, str) or not _FIELD.fullmatch(self.name) or self.name.startswith("payload."):
            raise PluginError(f"{str(self.name)[:60]!r} is no name of a field: use a name with a dot, as robot.battery")
        if self.type not in _TYPES:
            raise PluginError(f"the type of {self.name} is none of {', '.join(_TYPES)}")
        _require_text(self.name, label=self.label, help=self.help)
        if not callable(self.value):
            raise PluginError(f"value of {self.name} is no function")


@dataclass(frozen=True, slots=True)
class Facts:
    """Names and values, one a line.

    Attributes:
        rows: pairs of texts.
    """

    rows: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Text:
    """A text.

    Attributes:
        text: shown as it is.
        markdown: shown formatted, as messages in Markdown are.
    """

    text: str
    markdown: bool = False


@dataclass(frozen=True, slots=True)
class Code:
    """A text in a fixed-width font."""

    text: str


@dataclass(frozen=True, slots=True)
class Table:
    """A table of texts.

    Attributes:
        columns: titles.
        rows: as many texts each as there are columns.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


Part = Facts | Text | Code | Table
"""A part of a payload view: plain data. Nothing in it is interpreted as HTML, and secrets in it are masked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PayloadView:
    """A section in the details of messages.

    Attributes:
        name: its identifier.
        title: title of the section.
        build: returns the parts for a message; () shows no section.
        kinds: kinds of messages that have it, `*` for all; a kind may end with `/*`.
    """

    name: str
    title: str
    build: Callable[[Message], Sequence[Part]]
    kinds: Sequence[str] = ("*",)

    def validate(self) -> None:
        """Raises PluginError if the declaration cannot be used."""
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise PluginError(f"{str(self.name)[:60]!r} is no name of a payload view: use a-z, 0-9, - and _")
        _require_text(self.name, title=self.title)
        _require_names(f"the kinds of {self.name}", self.kinds)
        if not callable(self.build):
            raise PluginError(f"build of {self.name} is no function")

    def shows(self, kind: str) -> bool:
        """Returns True if messages of a kind have this view."""
        return any(
            one in ("*", kind) or (one.endswith("/*") and kind.startswith(one[:-1])) for one in self.kinds
        )  # fmt: skip
