"""Tests of `packaging/formats_page.py`."""

from __future__ import annotations

from pathlib import Path

import formats_page  # pyright: ignore[reportMissingImports]
import pytest

from inspector.formats import table

PAGE = """# Sessions of Walnut

Files of `~/.walnut`, a record
a line ([Transcripts](../../../docs/transcripts.md)).

- Versions: 1.0
  to 1.3.
- Sources: example/walnut.

## More

Text that is not in the table.
"""


def test_the_parts_of_a_page_are_on_one_line_each(tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    path.write_text(PAGE, encoding="utf-8")
    assert formats_page.read_page(path) == (
        "Sessions of Walnut", "Files of `~/.walnut`, a record a line ([Transcripts](transcripts.md))", "1.0 to 1.3",
        "example/walnut", "",
    )  # fmt: skip
    path.write_text(PAGE.replace("walnut.\n\n##", "walnut.\n- Compared: 3 files\n  of public repositories.\n\n##"))
    assert formats_page.read_page(path)[3:] == ("example/walnut", "3 files of public repositories")


@pytest.mark.parametrize("part", ["# Sessions of Walnut\n", "- Versions: 1.0\n", "- Sources: example/walnut.\n"])
def test_a_missing_part_is_an_error(tmp_path: Path, part: str) -> None:
    path = tmp_path / "README.md"
    path.write_text(PAGE.replace(part, ""), encoding="utf-8")
    with pytest.raises(ValueError, match="a heading, a paragraph, and lists"):
        formats_page.read_page(path)


def test_every_listed_format_has_a_page() -> None:
    assert len(formats_page.folder_pages()) == len(table.FORMATS)
