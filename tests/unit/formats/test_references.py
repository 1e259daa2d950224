"""References in the declarations of formats: each names a part that loads, of the declared type."""

from __future__ import annotations

import pytest

from inspector.formats.file_conversion import FileConverter
from inspector.formats.format import Format, load
from inspector.formats.table import FORMAT_TITLES, FORMATS
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
    folders = [finder.folder({"HOME": "/home/robot"}) for finder in session_finders().values()]
    assert len(set(folders)) == len(folders), "each program has a folder of its own"
