"""SQL table `findings`: a row per finding of the checks."""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np

from inspector.analysis.arrays.field_columns import Column, Decoded, Interned
from inspector.analysis.findings import Severity
from inspector.analysis.findings.store import StoredFinding
from inspector.analysis.passes.changed_rows import NO_ROWS
from inspector.document.document import CaptureDocument
from inspector.protocol.secrets.masking import mask_text
from inspector.store.columns.hashes import NO_ROW
from inspector.tables.columns import Content, SqlType, Table, TableColumn, message_number_column
from inspector.tables.messages import field_column

_T = SqlType
_SEVERITIES = ("", *(severity.word for severity in Severity))


def _findings(document: CaptureDocument, names: Collection[str]) -> Content:
    findings = document.analysis.findings
    checks = findings.found.checks()
    arrays = [findings.found.arrays_of(check) for check in checks]
    rows, others, places = (np.concatenate([NO_ROWS, *column]) for column in zip(*arrays, strict=True)) if arrays else (
        NO_ROWS, NO_ROWS, NO_ROWS,
    )  # fmt: skip
    which = np.repeat(np.arange(len(checks)), [len(array[0]) for array in arrays])
    severities = np.array([int(check.severity) for check in checks], np.uint32)

    def words(say: Callable[[StoredFinding], str]) -> Column:
        def text(row: int) -> str:
            # Texts are composed on demand; most queries only count.
            return mask_text(say(findings.found.found_at(checks[int(which[row])], int(places[row]))))

        return Decoded(text, len(rows))

    made: dict[str, Callable[[], Column]] = {
        "no": lambda: message_number_column(rows, NO_ROW),
        "code": lambda: Interned(which + 1, ["", *(check.code for check in checks)]),
        "severity": lambda: Interned(severities[which], _SEVERITIES),
        "other": lambda: message_number_column(others, NO_ROW),
        "text": lambda: words(lambda found: findings.in_words(found).text),
        "hint": lambda: words(findings.hint),
    }
    columns = {name: made[name]() if name in made else field_column(document.analysis, name, rows) for name in names}
    return Content(len(rows), columns)


FINDINGS = Table("findings", "A row for each finding, the most severe first; `check` prints the same.", (
    TableColumn("no", _T.INTEGER, "No. of the message it is about.", needs_checks=True),
    TableColumn("code", _T.TEXT, "Its code; [findings.md](findings.md) has all.", needs_checks=True),
    TableColumn("severity", _T.SEVERITY, "note, warning or error, in this order.", needs_checks=True),
    TableColumn("other", _T.INTEGER, "No. of another message it refers to.", needs_checks=True),
    TableColumn("context", _T.TEXT, "Context of the message.", needs_checks=True),
    TableColumn("text", _T.TEXT, "The problem, in a sentence.", is_decoded=True, needs_checks=True),
    TableColumn("hint", _T.TEXT, "The remedy.", is_decoded=True, needs_checks=True),
), _findings)  # fmt: skip
