"""Tool aliases: one tool called differently in calls and in hints, as proxies prefix names (docs/protocols.md 13)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_LONGEST = 256
"""Characters of a rule."""
_FEW = 200
"""Rules that count; each is tried on each distinct name."""


class AliasError(ValueError):
    """A rule that cannot be one; its text says why, as a sentence."""


@dataclass(frozen=True, slots=True)
class ToolAlias:
    """One rule: a name, or names of a pattern, mean another.

    Attributes:
        written: the name as traffic has it; each `*` in it stands for any text.
        meant: the name it means; a `*` in it is what the last `*` of `written` stood for.
    """

    written: str
    meant: str

    @property
    def text(self) -> str:
        """The rule as the user writes it."""
        return f"{self.written} = {self.meant}"

    def apply(self, name: str) -> str | None:
        """What a name means by this rule; None when it is not about it. O(length of the name)."""
        if "*" not in self.written:
            return self.meant if name == self.written else None
        first, *middle, last = self.written.split("*")
        if len(name) < len(first) + len(last) or not (name.startswith(first) and name.endswith(last)):
            return None
        place, stop = len(first), len(name) - len(last)
        for part in middle:
            found = name.find(part, place, stop)
            if found < 0:
                return None
            place = found + len(part)
        return self.meant.replace("*", name[place:stop]) or None


def parse_alias(text: str) -> ToolAlias:
    """Read a rule written as `name = other name`.

    Raises:
        AliasError: it is no rule.
    """
    written, equals, meant = (part.strip() for part in text.partition("="))
    if not equals or not written or not meant:
        raise AliasError("Write a rule as name = other name, for example mcp__rune__* = *.")
    if len(text) > _LONGEST:
        raise AliasError(f"A rule has at most {_LONGEST} characters.")
    if "=" in meant:
        raise AliasError("A rule has one equals sign.")
    if "**" in written:
        raise AliasError("Two asterisks in a row say no more than one.")
    if meant.count("*") > 1:
        raise AliasError("The name that is meant may have one asterisk.")
    if "*" in meant and "*" not in written:
        raise AliasError("An asterisk on the right needs one on the left, which it repeats.")
    if written == meant:
        raise AliasError("Both names are the same.")
    return ToolAlias(written, meant)


class ToolAliases:
    """Rules in their order; the first that fits a name counts, and is applied once.

    Attributes:
        rules: the rules.
    """

    def __init__(self, rules: Sequence[ToolAlias] = ()) -> None:
        self.rules = tuple(rules[:_FEW])
        self._meant: dict[str, str] = {}

    @classmethod
    def of(cls, texts: Iterable[str]) -> ToolAliases:
        """Of rules as written; what is none is left out."""
        rules: list[ToolAlias] = []
        for text in texts:
            try:
                rules.append(parse_alias(text))
            except AliasError:
                continue
        return cls(rules)

    def meant(self, name: str) -> str:
        """The name a tool goes by: its own where no rule is about it."""
        if not self.rules:
            return name
        found = self._meant.get(name)
        if found is None:
            applied = (rule.apply(name) for rule in self.rules)
            found = self._meant[name] = next((one for one in applied if one is not None), name)
        return found


def alias_for(missing: str, tools: Iterable[str]) -> ToolAlias | None:
    """The rule that would pair a name nobody has with one of some tools, which bears it behind a prefix; None."""
    for tool in tools:
        prefix = tool[: -len(missing)] if missing and tool.endswith(missing) else ""
        if prefix and not prefix[-1].isalnum():
            return _prefix_rule(prefix)
        prefix = missing[: -len(tool)] if tool and missing.endswith(tool) else ""
        if prefix and not prefix[-1].isalnum():
            return _prefix_rule(prefix)
    return None


def _prefix_rule(prefix: str) -> ToolAlias | None:
    """The rule that takes a prefix away; None for one that cannot be written as a rule."""
    try:
        return parse_alias(f"{prefix}* = *") if "*" not in prefix and "=" not in prefix else None
    except AliasError:
        return None
