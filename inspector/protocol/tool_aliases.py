"""Tool aliases: maps names in calls to names in hints, since proxies prefix names (docs/protocols.md 13)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_MAX_RULE_LENGTH = 256
"""Characters of a rule."""
_MAX_RULES = 200
"""Limit of rules; each is tried on each distinct name."""


class AliasError(ValueError):
    """An invalid rule; its text gives the reason as a sentence."""


@dataclass(frozen=True, slots=True)
class ToolAlias:
    """One rule: maps a name, or names of a pattern, to another.

    Attributes:
        pattern: the name in traffic; each `*` in it matches any text.
        target: the target name; a `*` in it is the match of the last `*` of `pattern`.
    """

    pattern: str
    target: str

    @property
    def text(self) -> str:
        """The rule in the user's notation."""
        return f"{self.pattern} = {self.target}"

    def resolve(self, name: str) -> str | None:
        """Returns the target of a name, or None if the rule does not match. O(length of the name)."""
        if "*" not in self.pattern:
            return self.target if name == self.pattern else None
        first, *middle, last = self.pattern.split("*")
        if len(name) < len(first) + len(last) or not (name.startswith(first) and name.endswith(last)):
            return None
        place, stop = len(first), len(name) - len(last)
        # The leftmost match of each part is enough, so there is no backtracking.
        for part in middle:
            found = name.find(part, place, stop)
            if found < 0:
                return None
            place = found + len(part)
        return self.target.replace("*", name[place:stop]) or None


def parse_alias(text: str) -> ToolAlias:
    """Parses a rule of the form `name = other name`.

    Raises:
        AliasError: if it is no rule.
    """
    written, equals, meant = (part.strip() for part in text.partition("="))
    if not equals or not written or not meant:
        raise AliasError("Write a rule as name = other name, for example mcp__rune__* = *.")
    if len(text) > _MAX_RULE_LENGTH:
        raise AliasError(f"A rule has at most {_MAX_RULE_LENGTH} characters.")
    if "=" in meant:
        raise AliasError("A rule has one equals sign.")
    if "**" in written:
        raise AliasError("Two asterisks in a row mean the same as one.")
    if meant.count("*") > 1:
        raise AliasError("The name that is meant may have one asterisk.")
    if "*" in meant and "*" not in written:
        raise AliasError("An asterisk on the right needs one on the left, which it repeats.")
    if written == meant:
        raise AliasError("Both names are the same.")
    return ToolAlias(written, meant)


class ToolAliases:
    """Rules in order; the first match wins, and is applied once.

    Attributes:
        rules: the rules.
    """

    def __init__(self, rules: Sequence[ToolAlias] = ()) -> None:
        self.rules = tuple(rules[:_MAX_RULES])
        self._meant: dict[str, str] = {}

    @classmethod
    def from_texts(cls, texts: Iterable[str]) -> ToolAliases:
        """Parses rules; skips invalid ones."""
        rules: list[ToolAlias] = []
        for text in texts:
            try:
                rules.append(parse_alias(text))
            except AliasError:
                continue
        return cls(rules)

    def resolve(self, name: str) -> str:
        """Returns the target of a tool's name; the name itself without a match."""
        if not self.rules:
            return name
        # Each name is matched once, since tools repeat in thousands of calls.
        found = self._meant.get(name)
        if found is None:
            applied = (rule.resolve(name) for rule in self.rules)
            found = self._meant[name] = next((one for one in applied if one is not None), name)
        return found


def alias_for(missing: str, tools: Iterable[str]) -> ToolAlias | None:
    """Returns a rule that pairs a missing name with a tool of that name and a prefix."""
    for tool in tools:
        prefix = tool[: -len(missing)] if missing and tool.endswith(missing) else ""
        # A prefix ends at a separator; other common endings are chance.
        if prefix and not prefix[-1].isalnum():
            return _prefix_rule(prefix)
        prefix = missing[: -len(tool)] if tool and missing.endswith(tool) else ""
        if prefix and not prefix[-1].isalnum():
            return _prefix_rule(prefix)
    return None


def _prefix_rule(prefix: str) -> ToolAlias | None:
    """Returns the rule that strips a prefix; None if it has no notation."""
    try:
        return parse_alias(f"{prefix}* = *") if "*" not in prefix and "=" not in prefix else None
    except AliasError:
        return None
