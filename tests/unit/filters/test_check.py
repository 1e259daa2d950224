"""Names and types: what does not fit is said with place, sentence and suggestion."""

from __future__ import annotations

import pytest

from inspector.filters import FilterError
from tests.unit.filters.reference import compiled

NUMERIC = "It takes ==, !=, <=, <, >=, > and in."
SIZES = "k, M, G, B, kB, KB, MB, GB, KiB, MiB, GiB."
NO_TIME = 'Write it as in "2026-01-05" or "2026-01-05T09:30:00.250Z".'
BAD_REGEX = "The regular expression is not valid: "
UNCLOSED = BAD_REGEX + "A ( is not closed."
TEXTUAL = "It takes ==, !=, in, contains, matches and like."
ERRORS = [
    ("form == lead", (0, 4), "There is no field form.", "Did you mean from?", "from"),
    ("a && KIND", (5, 4), "There is no field KIND.", "Did you mean kind?", "kind"),
    ("no && zzzzzz", (6, 6), "There is no field zzzzzz.", 'Write "zzzzzz" to search the text of messages.', '"zzzzzz"'),
    ("payload == 1", (0, 7), "payload is not one field.", "Name a part of it, as in payload.text.", None),
    ("from > a", (0, 8), "from is text, which > does not compare.", TEXTUAL, None),
    ("no contains 5", (0, 13), "no is a whole number, which contains does not compare.", NUMERIC, None),
    ("kind under a", (0, 12), "kind is text, which under does not compare.", TEXTUAL, None),
    ("payload.a under b", (0, 17), "payload.a is of any type, which under does not compare.", None, None),
    ("error in {true}", (0, 15), "error is true or absent, which in does not compare.", "It takes == and !=.", None),
    ("from == 7", (8, 1), "from is text, and 7 is a number.", 'Did you mean "7"?', '"7"'),
    ("from == 007k", (8, 4), "from is text, and 007k is a number.", 'Did you mean "007k"?', '"007k"'),
    ("from in {a, true}", (12, 4), "from is text, and true is a truth value.", 'Did you mean "true"?', '"true"'),
    ("payload.a contains 7", (19, 1), "contains compares text, and 7 is a number.", 'Did you mean "7"?', '"7"'),
    ("payload.a < true", (12, 4), "true and false have no order.", None, None),
    ('no == "5"', (6, 3), 'no is a number, and "5" is text.', "Did you mean 5?", "5"),
    ("no == five", (6, 4), "no is a number, and five is not.", None, None),
    ("size == 5kg", (8, 3), "size is a number, and 5kg is not.", "Numbers may end in " + SIZES, None),
    ("size > 5s", (7, 2), "The unit s does not fit size.", "It takes " + SIZES, None),
    ("no > 5kB", (5, 3), "The unit kB does not fit no.", "It takes k, M, G.", None),
    ("time > yesterday", (7, 9), "time is a time, and yesterday is not.", NO_TIME, None),
    ("time > 5", (7, 1), "time is a time, and 5 is not.", NO_TIME, None),
    ("error == 1", (9, 1), "error is true or absent, it cannot be 1.", "Write error or !error.", None),
    ('text matches "a(b"', (15, 1), UNCLOSED, None, None),
(r'text matches "\\\"("', (18, 1), UNCLOSED, None, None),
    ("text matches *a", (13, 1), BAD_REGEX + "A repetition has no character before it.", None, None),
    ('text matches "a{99999999999999}"', (13, 19), "The regular expression is too complex.", None, None),
    (f'text matches "{"a" * 1001}"', (13, 1003), "The pattern is longer than 1,000 characters.", None, None),
    (f'text like "{"a" * 1001}"', (10, 1003), "The pattern is longer than 1,000 characters.", None, None),
    ('context under "/"', (14, 3), "The path is empty; the main context has none and is written !context.", None, None),
    (
        "context under $context", (14, 8), "No context is selected, so $context has no value.",
        "Select one in the tree.", None,
    ),
    (
        "context like $context", (13, 8), "$context stands for one path and cannot be a pattern for like.",
        "Use under.", None,
    ),
    ("no == $context", (6, 8), "$context is a context path, which no is not.", None, None),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "place", "message", "suggestion", "replacement"), ERRORS, ids=[text[:40] for text, *_ in ERRORS]
)
def test_what_does_not_fit(
    text: str, place: tuple[int, int], message: str, suggestion: str | None, replacement: str | None
) -> None:
    with pytest.raises(FilterError) as caught:
        compiled(text.replace("a && ", "no && "))
    error = caught.value
    shift = 1 if text.startswith("a && ") else 0
    assert (error.message, error.position - shift, error.length) == (message, *place)
    if suggestion is not None:
        assert error.suggestion == suggestion
    assert error.replacement == replacement


def test_deeply_nested_regular_expression_is_an_error_not_a_crash() -> None:
    with pytest.raises(FilterError):
        compiled(f'text matches "{"(" * 490 + "a"}"')
