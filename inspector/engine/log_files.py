"""Files before they are opened: streams, sessions and lists of sources. A window calls these directly."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from inspector.document.source_list import own_source_list, resolve_choices, write_source_list
from inspector.engine.targets import Target, choice_of_target, target_of_choice
from inspector.msp import is_session_document as is_session_document
from inspector.sources.blocking_files import wait_until_readable as wait_until_readable
from inspector.sources.inputs import is_stream as is_stream
from inspector.sources.inputs import waiting_words as waiting_words
from inspector.sources.transcript_files import MOST_FILES as MOST_FILES
from inspector.sources.transcript_files import members_of as members_of
from inspector.store.files.spool import TemporaryFolder as TemporaryFolder
from inspector.store.files.spool import adopt_spool as adopt_spool


def resolve_targets(targets: Iterable[Target]) -> list[Target]:
    """Resolves targets: folders become sessions or logs, lists their sources, rotated logs one source."""
    return [target_of_choice(one) for one in resolve_choices(map(choice_of_target, targets))]


def write_own_list(targets: Iterable[Target]) -> Path:
    """Writes a list of sources to the program's own data, the same for the same files. Raises OSError."""
    return own_source_list([choice_of_target(one) for one in targets])


def write_list(path: Path, targets: Iterable[Target]) -> None:
    """Writes a list of sources, with relative paths if possible. Raises OSError."""
    write_source_list(path, [choice_of_target(one) for one in targets])
