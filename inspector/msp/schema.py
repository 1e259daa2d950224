"""The JSON Schemas of MSP objects, Draft-07 as the protocol uses: `python -m inspector.msp.schema` writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from inspector.base.paths import resource
from inspector.msp.models import MODELS

DRAFT = "http://json-schema.org/draft-07/schema#"


def schemas() -> dict[str, str]:
    """Text of each schema by its file's name."""
    return {f"msp-{name}.schema.json": _written(model.model_json_schema(ref_template=_REF)) for name, model in MODELS}


_REF = "#/definitions/{model}"


def _written(schema: dict[str, Any]) -> str:
    definitions = schema.pop("$defs", {})
    whole = {"$schema": DRAFT} | schema | ({"definitions": definitions} if definitions else {})
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def write(folder: Path) -> None:
    """Write all of them into a folder, which is made when it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in schemas().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(resource("schema"))
