"""Payload views of plug-ins are sections of plain data: nothing in them is HTML, secrets are masked."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.formats import guards
from inspector.present import plugin_views
from inspector.protocol.secrets.masking import MASK
from inspector.ui.document_client import DocumentClient
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.content_table import ContentTable
from inspector.ui.panels.details.facts_view import FactsView
from inspector.ui.panels.details.panel import DetailsPanel
from inspector.ui.panels.details.section import Section
from inspector.ui.panels.details.text_block import TextView
from tests.builders import document_of, envelope
from tests.leaky import BEARER, QUERY, SECRET
from tests.plugins import example, plugin_file
from tests.ui.engines import in_engine, loaded, patch_engine
from tests.ui.panels.details.panels import details_panel
from tests.ui.windows import bury

pytestmark = pytest.mark.usefixtures("no_plugins_left")
VIEW = """
from inspector.plugin import Code, Facts, PayloadView, Table, Text
def build(message):
    {body}
PAYLOAD_VIEWS = [PayloadView(name="toy", title="Toy <i>view</i>", build=build)]
"""


@pytest.fixture(autouse=True)
def buried() -> Iterator[None]:
    yield
    bury()


def show(qtbot: QtBot, themes: ThemeController, text: str) -> DetailsPanel:
    document = document_of(envelope("chat", {"text": text}))
    panel = details_panel(document, themes)
    qtbot.addWidget(panel)
    panel.resize(360, 700)
    panel.show()
    panel.show_message(0)
    QApplication.processEvents()
    return panel


def reasons(panel: DetailsPanel) -> list[str]:
    """Returns the reasons for switching off parts of plug-ins."""
    client = panel.findChild(DocumentClient)
    return in_engine(client, lambda _document: [trip.reason for trip in guards.trips()])


def labels(panel: DetailsPanel) -> list[str]:
    return [section.label for section in panel.pages["Overview"].findChildren(Section)]


def test_the_example_shows_a_table(qtbot: QtBot, theme_controller: ThemeController) -> None:
    loaded(example("csv_view"))
    panel = show(qtbot, theme_controller, f"name,password\nann,{SECRET}\n<b>bob</b>,x")
    assert "Comma-separated values" in labels(panel)
    table = panel.pages["Overview"].findChild(ContentTable, "contentTable")
    assert table is not None
    cells = [[str(table.content.index(row, column).data()) for column in range(2)] for row in range(2)]
    assert [row[0] for row in cells] == ["ann", "<b>bob</b>"]
    assert cells[0][1] == MASK
    plain = show(qtbot, theme_controller, "hello")
    assert "Comma-separated values" not in labels(plain)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a,b\n" * 1_500, True),
        (",".join("ab" * 40) + "\n" + ",".join("cd" * 40), False),
        (f"a,b\n{'c' * 200_000},d", False),
    ],
)
def test_the_example_stays_on_at_a_large_table(
    text: str, shown: bool, qtbot: QtBot, theme_controller: ThemeController
) -> None:
    loaded(example("csv_view"))
    panel = show(qtbot, theme_controller, text)
    assert ("Comma-separated values" in labels(panel)) is shown
    assert reasons(panel) == []


def test_texts_are_plain_and_masked(qtbot: QtBot, theme_controller: ThemeController) -> None:
    body = f"return [Text('<b>x</b> {QUERY}'), Code('{BEARER}'), Facts([('password', '{SECRET}'), ('a', '<i>')])]"
    loaded(plugin_file("toy", VIEW.format(body=body)))
    panel = show(qtbot, theme_controller, "hello")
    assert "Toy <i>view</i>" in labels(panel)
    page = panel.pages["Overview"]
    text, code = page.findChild(TextView, "addedText"), page.findChild(TextView, "addedCode")
    facts = page.findChild(FactsView, "addedFacts")
    assert text is not None
    assert code is not None
    assert facts is not None
    shown = [text.toPlainText(), code.toPlainText()]
    shown += [str(facts.model().index(row, 0).data()) for row in range(facts.model().rowCount())]
    assert shown[0].startswith("<b>x</b> ")
    assert not any(SECRET in one for one in shown)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("raise ValueError('no')", "it raised ValueError: no"),
        ("return 'text'", "it returned str in place of parts"),
        ("return ['text']", "it returned str in place of Facts, Text, Code or Table"),
        ("return [Text(7)]", "it returned int in place of a text"),
        ("return [Text('x' * (2 << 20))]", "it returned more than 1 MB or 1,000,000 values for one call"),
        ("return [Table(['a'], [['b', 'c']])]", "it returned a table with rows of other lengths than its columns"),
        ("return [Facts([('a', 'b')] * 999)]", "it returned a part that is no list of at most 200 rows"),
        ("return [Facts([1])]", "it raised TypeError: cannot unpack non-iterable int object"),
        ("while True: yield Text('a')", "it returned more than 20 parts"),
        ("while True: pass", "it took longer than 0.3 s"),
    ],
)
def test_a_view_that_fails_is_switched_off(
    qtbot: QtBot, theme_controller: ThemeController, body: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    patch_engine(monkeypatch, plugin_views, "VIEW_S", 0.3)
    loaded(plugin_file("toy", VIEW.format(body=body)))
    panel = show(qtbot, theme_controller, "hello")
    assert "Toy <i>view</i>" not in labels(panel)
    assert "Envelope" in labels(panel)
    assert reasons(panel) == [reason]
