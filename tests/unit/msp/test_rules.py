"""Tests of `inspector.msp.rules`: each rule has its words, its setting and its option."""

from __future__ import annotations

from dataclasses import asdict, fields

from typer.main import get_command

from inspector.cli.commands import app
from inspector.msp.rules import RULE_WORDS, Rules
from inspector.settings.model import MergedRules


def test_each_rule_has_words() -> None:
    assert list(RULE_WORDS) == [field.name for field in fields(Rules)]
    assert len({words.title for words in RULE_WORDS.values()}) == len(RULE_WORDS)
    assert not any(words.title.endswith(".") or not words.help.endswith(".") for words in RULE_WORDS.values())


def test_the_settings_keep_the_same_rules_with_the_same_defaults() -> None:
    assert MergedRules().model_dump() == asdict(Rules())


def test_rules_of_settings() -> None:
    kept = MergedRules(missing_recent=2, half_open=False)
    assert Rules.from_settings({**kept.model_dump(), "later": True}) == Rules(missing_recent=2, half_open=False)


def test_each_rule_has_an_option_of_the_command() -> None:
    command = get_command(app).get_command(None, "merged-context")  # type: ignore[attr-defined]
    helps = {option: parameter.help for parameter in command.params for option in parameter.opts}
    assert {words.option: words.option_help for words in RULE_WORDS.values()}.items() <= helps.items()
