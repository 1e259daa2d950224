"""Messages as one page for a browser, with nothing outside of it: no scripts, no pictures, no fonts, no links.

Text from the wire is escaped, and a policy in the head forbids scripts and requests all the same. Light or dark goes by
what the reader's system prefers. A message is a line that opens (`details`): what it said needs no script to show.
"""

from __future__ import annotations

import html

from inspector.document.document import CaptureDocument
from inspector.export.context_summary import Story, Teller
from inspector.export.options import Manner
from inspector.export.page_style import style_sheet
from inspector.export.redaction import Redaction
from inspector.protocol.hostile_text import visible

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_TO_MILLISECONDS = len("12:34:56.789")
_COLUMNS = (("no", "No."), ("time", "Time"), ("way", "From → To"), ("kind", "Kind"), ("context", "Context"),
            ("said", "Message"))  # fmt: skip
_HEADS = f'<div class="heads"><span></span>{"".join(f"""<span class="{n}">{w}</span>""" for n, w in _COLUMNS)}</div>'


class PageWriter:
    """Writes HTML."""

    def __init__(self, document: CaptureDocument, manner: Manner, redaction: Redaction) -> None:
        self._document = document
        self._manner = manner
        self._teller = Teller(document, redaction)
        self._redaction = redaction

    def begin(self) -> bytes:
        """The head of the page, and what the messages are."""
        name = _text(visible(self._redaction.text(self._document.name)))
        about = [self._redaction.text(self._manner.view)] if self._manner.view else []
        secrets = "Secrets are masked." if self._manner.masked else "Secrets are not masked."
        said = "".join(f"<p>{_text(visible(line))}</p>\n" for line in about)
        return (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
            '<meta name="viewport" content="width=device-width">\n<meta name="color-scheme" content="light dark">\n'
            f'<meta name="referrer" content="no-referrer">\n<title>{name}</title>\n'
            f"<style>\n{style_sheet()}</style>\n</head>\n<body>\n<header>\n<h1>{name}</h1>\n{said}"
            f'<p class="{"quiet" if self._manner.masked else "loud"}">{secrets}</p>\n</header>\n<main>\n{_HEADS}\n'
        ).encode()

    def message(self, message: int) -> bytes:
        """A line that opens."""
        return _entry(self._teller.tell(message)).encode()

    def end(self) -> bytes:
        """The end of the page."""
        return b"</main>\n</body>\n</html>\n"


def _text(text: str) -> str:
    return html.escape(text)


def _entry(story: Story) -> str:
    heading = story.heading
    worst = max((said.severity for said in story.findings), default=None)
    marks = f'<b class="{worst.word}" title="{worst.word}">!</b>' if worst is not None else ""
    marks += '<b class="mark" title="marked">&#9873;</b>' if story.marked else ""
    to = heading["to"] or "everyone"
    cells = (
        ("no", str(story.number)),
        ("time", heading["time"].partition("T")[2][:_TO_MILLISECONDS].removesuffix("Z")),
        ("way", f"{heading['from'] or '?'} → {to}"),
        ("kind", heading["kind"] or "unreadable"),
        ("context", heading["context"]),
        ("said", " ".join(filter(None, (story.call, story.text)))),
    )
    line = "".join(f'<span class="{name}">{_text(text)}</span>' for name, text in cells)
    return (
        f'<details id="no-{story.number}" class="{story.family.name.lower()}"><summary>'
        f'<span class="marks">{marks}</span>{line}</summary>\n{_inside(story)}</details>\n'
    )


def _inside(story: Story) -> str:
    facts = [("Time", story.heading["time"]), *story.facts]
    found = "".join(
        f'<p class="{word}">{word}: {_text(said.text)} <code>{_text(said.code)}</code></p>\n'
        for said, word in ((said, said.severity.word) for said in story.findings)
    )
    rows = "".join(f"<dt>{_text(label)}</dt><dd>{_text(value)}</dd>\n" for label, value in facts if value)
    left = f'<p class="quiet">{story.left_out:,} more characters are left out here.</p>\n' if story.left_out else ""
    return f"{found}<dl>\n{rows}</dl>\n<pre>{_text(story.body)}</pre>\n{left}"
