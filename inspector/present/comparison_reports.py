"""Reports of `diff`: a self-contained HTML page without scripts or requests, and JUnit XML."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import Any
from xml.etree import ElementTree

from inspector.export.page import COLORS
from inspector.present.run_comparison import noise_words
from inspector.protocol.escaped_text import escape_hostile

_USED = ("surface.base", "surface.inset", "line.hair", "ink.primary", "ink.secondary", "ink.tertiary")
_HEAD = """<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title><style>
:root {{ color-scheme: light dark; {light} }}
@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}
body {{ margin: 0; padding: 20px 24px; background: var(--surface-base); color: var(--ink-primary);
  font: 13px/1.45 Inter, "Segoe UI", system-ui, sans-serif; font-variant-numeric: tabular-nums; }}
h1 {{ font-size: 16px; }} p {{ overflow-wrap: anywhere; }} .quiet {{ color: var(--ink-secondary); }}
.answer {{ background: var(--surface-inset); padding: 10px 12px; }}
table {{ border-collapse: collapse; width: 100%; }} td, th {{ text-align: left; vertical-align: top;
  padding: 3px 12px 3px 0; border-bottom: 1px solid var(--line-hair); overflow-wrap: anywhere; }}
th {{ color: var(--ink-tertiary); font-weight: 400; }} .no {{ text-align: right; white-space: nowrap; }}
</style></head><body>
"""


def html_page(answer: dict[str, Any]) -> str:
    """Returns the page of an answer in the shape of `diff --format json`; all texts are escaped."""
    noise = "".join(f"<p>{page_text(noise_words(one['ignore'], one['pairs']))}</p>" for one in answer["ignorable"])
    evidence = _table(answer["evidence"]) if answer["evidence"] else ""
    sides = [answer["totals"][side] for side in ("a", "b")]
    totals = "".join(
        f"<tr><td>{page_text(name)}</td>"
        + "".join(f'<td class="no">{page_text(_figure(side[name]))}</td>' for side in sides)
        + "</tr>"
        for name in sides[0]
    )
    return "".join((
        page_head("Comparison of two runs"),
        f'<p class="quiet">A: {page_text(answer["a"])}<br>B: {page_text(answer["b"])}</p>',
        f'<p class="answer">{page_text(answer["sentence"])}</p>',
        f"<h1>Also received before</h1>{evidence}" if evidence else "",
        noise,
        f'<h1>Totals</h1><table><tr><th></th><th class="no">A</th><th class="no">B</th></tr>{totals}</table>',
        f"<h1>Differences</h1>{_table(answer['differences'])}</body></html>\n",
    ))  # fmt: skip


def page_head(title: str) -> str:
    """Returns the beginning of a page, up to its first heading."""
    light, dark = (
        " ".join(f"--{name.replace('.', '-')}: {COLORS[name][theme]};" for name in _USED) for theme in (1, 0)
    )
    return f"{_HEAD.format(title=title, light=light, dark=dark)}<h1>{title}</h1>"


def _table(places: Iterable[dict[str, Any]]) -> str:
    rows = "".join(
        f'<tr><td class="no">{page_text(_figure(one["a"]))}</td><td class="no">{page_text(_figure(one["b"]))}</td>'
        f"<td>{page_text(one['class'])}</td><td>{page_text(one['text'])}</td></tr>"
        for one in places
    )
    return f'<table><tr><th class="no">A</th><th class="no">B</th><th>Class</th><th>Difference</th></tr>{rows}</table>'


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:,.4f}" if isinstance(value, float) else f"{value:,}"


def page_text(value: object) -> str:
    """Escapes a text for a page."""
    return html.escape(escape_hostile(str(value)))


def junit(answer: dict[str, Any]) -> str:
    """Returns a JUnit suite of one test case, which fails if the runs differ."""
    suite = ElementTree.Element(
        "testsuite", name="context-inspector diff", tests="1", failures=str(int(not answer["equal"])), errors="0",
    )  # fmt: skip
    case = ElementTree.SubElement(
        suite, "testcase", classname=escape_hostile(str(answer["a"])), name=escape_hostile(str(answer["b"]))
    )
    if not answer["equal"]:
        first = answer["first"] or {"class": "difference"}
        failure = ElementTree.SubElement(
            case, "failure", message=escape_hostile(answer["sentence"]), type=str(first["class"])
        )
        failure.text = "\n".join(
            escape_hostile(f"{one['class']}: A {one['a'] or '-'}, B {one['b'] or '-'}: {one['text']}")
            for one in answer["differences"]
        )
    ElementTree.indent(suite)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(suite, encoding="unicode")
