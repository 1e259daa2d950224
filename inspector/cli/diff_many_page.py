"""Page of `diff --many`: one self-contained HTML page without scripts or requests; all texts are escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from inspector.present.comparison_reports import page_head, page_text
from inspector.present.many_runs import ChangingAnswer, FactAnswer, TaskAnswer, value_words

_INDENT_PX = 14
_DEEPEST = 60


def html_page(answers: Sequence[TaskAnswer], failures: Sequence[tuple[str, str]]) -> str:
    """Returns the page of answers."""
    unread = "".join(f"<p>Not read: {page_text(path)}: {page_text(text)}</p>" for path, text in failures)
    return f"{page_head('Comparison of many runs')}{''.join(map(_task, answers))}{unread}</body></html>\n"


def _task(answer: TaskAnswer) -> str:
    title = "" if answer.task is None else f"<h1>Task {page_text(answer.task)}</h1>"
    groups = ", ".join(f"{count:,} {page_text(name)}" for name, count in answer.groups.items())
    facts = _table(
        ("fact", *answer.compared, "p", "corrected"), [_fact(one) for one in answer.facts] if answer.can_tell else []
    )
    odd = [[page_text(one.run), page_text(one.group), page_text(one.reason)] for one in answer.outliers]
    varying = [
        [f"{page_text(one.tool)} {page_text(one.argument)}", f"{one.values:,}", f"{one.runs:,}"]
        for one in answer.varying
    ]
    return "".join((
        f'{title}<p class="quiet">{answer.runs:,} runs: {groups}; {answer.ways:,} different ways; '
        f"usual run: {page_text(answer.usual)}</p>",
        _tree(answer), f'<p class="answer">{page_text(answer.sentence)}</p>', facts,
        _section("Unlike the others", ("run", "group", "reason"), odd),
        _section("Flaky calls", ("call", "runs", "failed", "results"), map(_call, answer.flaky)),
        _section("Calls with other results", ("call", "runs", "failed", "results"), map(_call, answer.changing)),
        _section("Arguments that are not counted", ("argument", "values", "runs"), varying),
    ))  # fmt: skip


def _tree(answer: TaskAnswer) -> str:
    names = list(answer.groups)
    rows: list[list[str]] = []
    for row in answer.tree:
        first = page_text(row.steps[0]) if row.steps else "start"
        more = f' <span class="quiet">and {row.count - 1:,} more</span>' if row.count > 1 else ""
        single = f' <span class="quiet">{page_text(row.representative.run)}</span>' if row.runs == 1 else ""
        indent = min(row.depth, _DEEPEST) * _INDENT_PX
        rows.append([
            f'<div style="margin-left: {indent}px">{first}{more}{single}</div>', f"{row.runs:,}",
            *(f"{row.groups.get(name, 0):,}" for name in names), f"{row.ended:,}",
        ])  # fmt: skip
    return _table(("steps", "runs", *names, "ended"), rows)


def _fact(one: FactAnswer) -> list[str]:
    same = f' <span class="quiet">in the same runs: {page_text("; ".join(one.same))}</span>' if one.same else ""
    counts = [f"{each['with']:,} of {each['with'] + each['without']:,}" for each in one.groups.values()]
    return [page_text(one.text) + same, *counts, value_words(one.p), value_words(one.corrected)]


def _call(one: ChangingAnswer) -> list[str]:
    return [page_text(one.text), f"{one.runs:,}", f"{one.failed:,}", f"{one.results:,}"]


def _section(title: str, names: Sequence[str], rows: Iterable[list[str]]) -> str:
    table = _table(names, rows)
    return f"<h1>{title}</h1>{table}" if table else ""


def _table(names: Sequence[str], rows: Iterable[list[str]]) -> str:
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    head = "".join(f"<th>{page_text(name)}</th>" for name in names)
    return f"<table><tr>{head}</tr>{body}</table>" if body else ""
