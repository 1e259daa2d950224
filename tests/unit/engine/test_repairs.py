"""Failed calls that were put right, by message."""

from __future__ import annotations

from inspector.engine.engine import Engine
from inspector.engine.requests.repairs import FixedCalls
from tests.builders import document_of, tool_call, tool_result


def test_a_failed_call_and_its_result_name_the_later_success() -> None:
    lines = []
    for command, failed in (("make test", True), ("make lint", True), ("make test", False), ("ls", False)):
        call = tool_call("Bash", arguments={"command": command})
        lines += [call, tool_result(call, "x", result={"isError": failed})]
    engine = Engine()
    number = engine.adopt(document_of(*lines))
    assert engine.answer_request(number, FixedCalls(tuple(range(8)))) == {0: 4, 1: 4}
    engine.close()


def test_a_command_with_another_name_of_its_interpreter_fixes_it() -> None:
    lines = []
    for command, failed in (("python app.py", True), ("python other.py", True), ("grep python3 app.py", True),
                            ("python3 app.py", False), ("grep python app.py", False)):  # fmt: skip
        call = tool_call("Bash", arguments={"command": command})
        lines += [call, tool_result(call, "x", result={"isError": failed})]
    engine = Engine()
    number = engine.adopt(document_of(*lines))
    assert engine.answer_request(number, FixedCalls((0, 2, 4))) == {0: 6}
    engine.close()
