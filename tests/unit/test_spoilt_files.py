"""Whatever stands in a file of any sort that is read, opening it ends, and every question is answered."""

from __future__ import annotations

from contextlib import closing

from hypothesis import given
from hypothesis import strategies as st

from inspector.engine.request import RequestError
from inspector.mcp_server.bounds import dumped
from inspector.mcp_server.captures import CaptureNameError, Captures
from inspector.mcp_server.tools import TOOLS
from inspector.protocol.escaped_text import escape_hostile
from inspector.tables import TABLES, Database
from tests.builders import clean_up, log_file
from tests.pictures import picture
from tests.spoilt import sorts, spoilt
from tests.strategies import share_of_examples

_OF_A_MESSAGE = ("show", "chain")


@share_of_examples(5)
@given(st.sampled_from(sorted(sorts())), st.integers(0, (1 << 32) - 1))
def test_every_question_about_a_spoilt_file_is_answered(sort: str, seed: int) -> None:
    captures = Captures([log_file(spoilt(sort, seed), sort)])
    with closing(captures):
        try:
            document = captures.log(None).document
        except CaptureNameError:  # a sentence that says what it is not
            return
        picture(document)
        for tool in TOOLS:
            numbers = range(1, min(len(document.capture), 40) + 1) if tool.name in _OF_A_MESSAGE else [None]
            for number in numbers:
                asked: dict[str, object] = {} if number is None else {"no": number}
                if tool.name == "compare_runs":
                    asked = dict.fromkeys("ab", captures.listed()[0].name)
                try:
                    escape_hostile(dumped(tool.answer(captures, tool.arguments.model_validate(asked)))).encode()
                except RequestError:  # nobody's model is shown
                    assert tool.name == "model_sees"
        with closing(Database()) as database:
            for table in TABLES:
                sql = f"SELECT * FROM {table.name}"
                database.load(document, database.plan_inputs(sql))
                list(database.run_query(sql))
    clean_up()
