"""Writes messages as one self-contained HTML page: no scripts, pictures, fonts or links.

Text from the wire is escaped, and a policy in the head also forbids scripts and requests. Light or dark follows the
reader's system. A message is a line that opens (`details`), which needs no script.
"""

from __future__ import annotations

import html
from collections.abc import Callable

from inspector.document.document import CaptureDocument
from inspector.export.message_summary import MessageSummarizer, MessageSummary
from inspector.export.options import ExportOptions
from inspector.export.redaction import Redaction
from inspector.protocol.escaped_text import escape_hostile

# Colours of the exported page: light and dark values by token name, chosen by `prefers-color-scheme`.
# The window's tokens are out of reach in this layer; a test compares the two.

COLORS: dict[str, tuple[str, str]] = {
    # token: (dark, light), as in ui/look/design_tokens.py
    "surface.base": ("#16181b", "#ffffff"),
    "surface.inset": ("#1b1e22", "#f6f7f9"),
    "surface.hover": ("#1f2226", "#f3f5f8"),
    "line.hair": ("#2a2d33", "#e1e4e9"),
    "ink.primary": ("#e4e6ea", "#1b1e23"),
    "ink.secondary": ("#aeb4be", "#4c525c"),
    "ink.tertiary": ("#949ba6", "#5f6671"),
    "accent.ring": ("#7d97ff", "#4a69e2"),
    "accent.text": ("#93abff", "#2f50c8"),
    "severity.error": ("#f47f7a", "#c22626"),
    "severity.warning": ("#e6b450", "#7d4f00"),
    "severity.note": ("#8fa8d8", "#3f5c9c"),
    "family.chat": ("#419fec", "#016aae"),
    "family.tools": ("#55cfa9", "#15674b"),
    "family.proposals": ("#e58a52", "#a2500b"),
    "family.reasoning": ("#e9b5e2", "#783e79"),
    "family.streams": ("#dad66a", "#433f06"),
    "family.control": ("#959ca7", "#5c636e"),
    "family.gateway": ("#959ca7", "#5c636e"),
    "family.unknown": ("#959ca7", "#5c636e"),
}

_RULES = """
* { box-sizing: border-box; }
body { margin: 0; background: var(--surface-base); color: var(--ink-primary);
  font: 13px/1.45 Inter, "Segoe UI", system-ui, sans-serif; font-variant-numeric: tabular-nums; }
header { padding: 20px 24px 12px; border-bottom: 1px solid var(--line-hair); }
h1 { margin: 0 0 6px; font-size: 16px; font-weight: 600; overflow-wrap: anywhere; }
p { margin: 2px 0; overflow-wrap: anywhere; }
header p { color: var(--ink-secondary); }
.quiet { color: var(--ink-tertiary); }
header .loud { color: var(--severity-warning); font-weight: 600; }
summary, .heads { display: grid; align-items: baseline; gap: 10px; padding: 3px 24px 3px 10px; cursor: default;
  list-style: none;  grid-template-columns: 24px 60px 92px 184px 160px 130px minmax(0, 1fr); }
.heads { position: sticky; top: 0; background: var(--surface-base); border-bottom: 1px solid var(--line-hair);
  color: var(--ink-tertiary); font-size: 11px; }
.heads span { color: var(--ink-tertiary); } .heads .kind::before { content: none; }
summary::-webkit-details-marker { display: none; }
summary:hover { background: var(--surface-hover); }
summary:focus-visible { outline: 2px solid var(--accent-ring); outline-offset: -2px; }
summary span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.marks b { font-size: 11px; padding: 0 2px; }
.no { color: var(--ink-tertiary); text-align: right; }
.time, .context { color: var(--ink-secondary); }
.kind { padding-left: 13px; position: relative; }
.kind::before { content: ""; position: absolute; left: 1px; top: 6px; width: 7px; height: 7px; border-radius: 2px;
  background: var(--family); }
.said { color: var(--ink-secondary); }
details[open] > summary { background: var(--surface-inset); }
details[open] > :not(summary) { margin-left: 44px; margin-right: 24px; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 12px; margin: 8px 0; }
dt { color: var(--ink-tertiary); }
dd { margin: 0; overflow-wrap: anywhere; }
pre, code { font: 12px/1.5 "JetBrains Mono", "Cascadia Mono", Consolas, Menlo, monospace; }
pre { margin: 8px 0 16px; padding: 10px 12px; background: var(--surface-inset); border: 1px solid var(--line-hair);
  border-radius: 6px; white-space: pre-wrap; overflow-wrap: anywhere; max-height: 480px; overflow-y: auto; }
.error { color: var(--severity-error); } .warning { color: var(--severity-warning); }
.note { color: var(--severity-note); } .mark { color: var(--accent-text); }
@media (max-width: 900px) { .time, .context { display: none; }
  summary, .heads { grid-template-columns: 20px 52px 130px 110px minmax(0, 1fr); } }
@media print { pre { max-height: none; } }
"""


def style_sheet() -> str:
    # Variables instead of two rule sets, so that the page stays small.
    light, dark = (
        "".join(f"--{name.replace('.', '-')}: {pair[place]}; " for name, pair in COLORS.items()) for place in (1, 0)
    )
    families = "".join(
        f".{name.partition('.')[2]} {{ --family: var(--{name.replace('.', '-')}); }}\n"
        for name in COLORS
        if name.startswith("family.")
    )
    return f":root {{ {light}}}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark}}} }}\n{families}{_RULES}"


# A second barrier behind escaping: even a forgotten escape could not run a script or send data.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_TO_MILLISECONDS = len("12:34:56.789")
_COLUMNS = (("no", "No."), ("time", "Time"), ("way", "From → To"), ("kind", "Kind"), ("context", "Context"),
            ("said", "Message"))  # fmt: skip
_HEADS = f'<div class="heads"><span></span>{"".join(f"""<span class="{n}">{w}</span>""" for n, w in _COLUMNS)}</div>'


class PageWriter:
    """Writes HTML."""

    def __init__(self, document: CaptureDocument, options: ExportOptions, redaction: Redaction) -> None:
        self._document = document
        self._options = options
        self._summarizer = MessageSummarizer(document, redaction)
        self._redaction = redaction

    def begin(self) -> bytes:
        """Returns the head of the page and a description of the messages."""
        name = _text(escape_hostile(self._redaction.mask_text(self._document.name)))
        about = [self._redaction.mask_text(self._options.view)] if self._options.view else []
        secrets = "Secrets are masked." if self._options.masked else "Secrets are not masked."
        about_html = "".join(f"<p>{_text(escape_hostile(line))}</p>\n" for line in about)
        return (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
            '<meta name="viewport" content="width=device-width">\n<meta name="color-scheme" content="light dark">\n'
            f'<meta name="referrer" content="no-referrer">\n<title>{name}</title>\n'
            f"<style>\n{style_sheet()}</style>\n</head>\n<body>\n<header>\n<h1>{name}</h1>\n{about_html}"
            f'<p class="{"quiet" if self._options.masked else "loud"}">{secrets}</p>\n</header>\n<main>\n{_HEADS}\n'
        ).encode()

    def message(self, message: int) -> bytes:
        return self.prepare(message)()

    def prepare(self, message: int) -> Callable[[], bytes]:
        """Reads a message, and returns a function that writes it; a thread may call it."""
        summarized = self._summarizer.prepare(message)
        return lambda: _entry(summarized()).encode()

    def end(self) -> bytes:
        return b"</main>\n</body>\n</html>\n"


def _text(text: str) -> str:
    return html.escape(text)


def _entry(summary: MessageSummary) -> str:
    heading = summary.heading
    worst = max((finding.severity for finding in summary.findings), default=None)
    marks = f'<b class="{worst.word}" title="{worst.word}">!</b>' if worst is not None else ""
    marks += '<b class="mark" title="marked">&#9873;</b>' if summary.marked else ""
    to = heading["to"] or "everyone"
    cells = (
        ("no", str(summary.number)),
        # The date is in the opened message; a column of equal dates helps no reader.
        ("time", heading["time"].partition("T")[2][:_TO_MILLISECONDS].removesuffix("Z")),
        ("way", f"{heading['from'] or '?'} → {to}"),
        ("kind", heading["kind"] or "unreadable"),
        ("context", heading["context"]),
        ("said", " ".join(filter(None, (summary.call, summary.text)))),
    )
    line = "".join(f'<span class="{name}">{_text(text)}</span>' for name, text in cells)
    return (
        f'<details id="no-{summary.number}" class="{summary.family.name.lower()}"><summary>'
        f'<span class="marks">{marks}</span>{line}</summary>\n{_details_html(summary)}</details>\n'
    )


def _details_html(summary: MessageSummary) -> str:
    facts = [("Time", summary.heading["time"]), *summary.facts]
    found = "".join(
        f'<p class="{word}">{word}: {_text(finding.text)} <code>{_text(finding.code)}</code></p>\n'
        for finding, word in ((finding, finding.severity.word) for finding in summary.findings)
    )
    rows = "".join(f"<dt>{_text(label)}</dt><dd>{_text(value)}</dd>\n" for label, value in facts if value)
    left = f'<p class="quiet">{summary.left_out:,} more characters are left out here.</p>\n' if summary.left_out else ""
    return f"{found}<dl>\n{rows}</dl>\n<pre>{_text(summary.body)}</pre>\n{left}"
