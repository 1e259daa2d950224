"""Pydantic models of MSP objects, and their JSON Schemas (Draft-07, as in the protocol).

`python -m inspector.msp.schema` writes the schemas. The texts here are part of them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from inspector.base.paths import resource

_Id = Annotated[str, Field(min_length=1)]
_Time = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]
_Content = str | list[Any] | dict[str, Any]


class _Model(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True, use_attribute_docstrings=True)


class MessageModel(_Model):
    """One message."""

    id: _Id
    role: _Id
    """`user`, `assistant`, or another one."""
    content: _Content
    """A text, or blocks as model APIs have them."""
    visibility: Literal["main_only", "subsession_only", "global"] | None = None
    timestamp: _Time | None = None


class SubContextModel(_Model):
    """The sub-context of a session: intent, constraints, decisions and facts."""

    intent: str | None = None
    constraints: list[str] = []
    decisions: list[str] = []
    facts: list[str] = []


class SnapshotModel(_Model):
    """A summary of a range of main messages."""

    id: _Id
    covers_messages: Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=2, max_length=2)] | None = None
    """Start and end index."""
    created_at: _Time | None = None
    content: _Content


class PolicyModel(_Model):
    """The parts of the parent that a sub-session includes."""

    include_sub_context: bool | None = None
    include_snapshots: bool | None = None
    recent_parent_messages: int | None = None
    include_summaries: list[str] | None = None
    """Ids of siblings whose summaries are included; an extension of Context Inspector."""


class SubsessionModel(_Model):
    """A side conversation below a session, or below another sub-session."""

    subsession_id: _Id
    parent_session_id: _Id | None = None
    label: str | None = None
    status: str | None = Field(default=None, examples=["open", "closed", "discarded"])
    created_at: _Time | None = None
    closed_at: _Time | None = None
    """Absent or null while it is open."""
    context_policy: PolicyModel | None = None
    summary: str | None = None
    messages: list[MessageModel] = []
    subsessions: list[str | SubsessionModel] = []
    """Sub-sessions below: ids or objects."""


class SessionModel(_Model):
    """A main conversation."""

    session_id: _Id
    created_at: _Time | None = None
    sub_context: SubContextModel | None = None
    summary_snapshots: list[SnapshotModel] = []
    subsessions: list[str | SubsessionModel] = []
    """Sub-sessions below: ids or objects."""
    messages: list[MessageModel] = []


class BoxModel(_Model):
    """Sessions and sub-sessions in one object."""

    session: SessionModel | None = None
    sessions: list[SessionModel] = []
    subsession: SubsessionModel | None = None
    subsessions: list[SubsessionModel] = []


MODELS: tuple[tuple[str, type[BaseModel]], ...] = (
    ("session", SessionModel),
    ("subsession", SubsessionModel),
    ("message", MessageModel),
    ("document", BoxModel),
)
"""Models with a schema file: `resources/schema/msp-<name>.schema.json`."""


DRAFT = "http://json-schema.org/draft-07/schema#"


def schemas() -> dict[str, str]:
    """Returns the text of each schema by file name."""
    return {
        f"msp-{name}.schema.json": _schema_text(model.model_json_schema(ref_template=_REF)) for name, model in MODELS
    }


_REF = "#/definitions/{model}"


def _schema_text(schema: dict[str, Any]) -> str:
    definitions = schema.pop("$defs", {})
    whole = {"$schema": DRAFT} | schema | ({"definitions": definitions} if definitions else {})
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def write_schemas(folder: Path) -> None:
    """Writes all schemas to a folder; creates it if missing."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in schemas().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_schemas(resource("schema"))
