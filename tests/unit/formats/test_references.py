"""References in the declarations of formats: each names a part that loads, of the declared type."""

from __future__ import annotations

import pytest

from inspector.analysis.findings.topic import DeclaredTopic
from inspector.analysis.views.model_context.context_rules import ContextRules
from inspector.formats.file_conversion import FileConverter
from inspector.formats.format import Format, load
from inspector.formats.products import SESSION_PRODUCTS
from inspector.formats.table import FORMAT_TITLES, FORMATS, format_named
from inspector.reading.decoder.fast_path import FastReader
from inspector.reading.reassembly.derived_lines import DerivedLineSpool
from inspector.sources.agent_sessions.lookup import session_finders
from inspector.sources.agent_sessions.session import SessionFinder


@pytest.mark.parametrize("one", [one for one in FORMATS if one.conversion], ids=lambda one: one.name)
def test_files_of_a_converter_have_a_title(one: Format) -> None:
    converter = load(one.conversion)
    assert isinstance(converter, FileConverter)
    assert converter.container in (None, one.name)
    assert one.name in FORMAT_TITLES
    assert not converter.begins_file(b"")
    assert not converter.begins_file(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')


def test_sessions_belong_to_their_format() -> None:
    assert [name for name, finder in session_finders().items() if not isinstance(finder, SessionFinder)] == []
    assert list(session_finders()) == [one.name for one in FORMATS if one.sessions]
    folders = [finder.folders({"HOME": "/home/robot"})[0] for finder in session_finders().values()]
    assert len(set(folders)) == len(folders), "each program has a folder of its own"


@pytest.mark.parametrize("one", FORMATS, ids=lambda one: one.name)
def test_checks_rules_and_readers_are_of_their_types(one: Format) -> None:
    assert not one.checks or isinstance(load(one.checks), DeclaredTopic)
    assert not one.context_rules or isinstance(load(one.context_rules), ContextRules)
    assert not one.fast_lines or isinstance(load(one.fast_lines), FastReader)
    if one.reassembly:
        stage = load(one.reassembly)(DerivedLineSpool("log"))
        assert not stage.is_relevant(b"")
        assert stage.process_lines([]) == stage.finish() == []


@pytest.mark.parametrize("one", [one for one in FORMATS if one.array_format], ids=lambda one: one.name)
def test_arrays_have_a_format_of_the_table(one: Format) -> None:
    assert format_named(one.array_format) is not None


def test_own_kinds_are_below_the_namespaces_of_some_format() -> None:
    prefixes = tuple(prefix for one in FORMATS for prefix in one.namespaces)
    for one in FORMATS:
        own = (*one.spoken_kinds, *one.failing_kinds, *one.stop_kinds)
        assert [kind for kind in own if not kind.startswith(prefixes)] == []


def test_products_are_those_of_formats_with_sessions() -> None:
    assert tuple(one.product for one in FORMATS if one.sessions) == SESSION_PRODUCTS
