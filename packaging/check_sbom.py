"""Validates bills of materials against CycloneDX's schema: `python packaging/check_sbom.py FILE...`.

Needs `cyclonedx-python-lib[json-validation]`, which is no dependency of the program or of its build.
"""

from __future__ import annotations

import sys
from pathlib import Path

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

if __name__ == "__main__":
    validator = JsonStrictValidator(SchemaVersion.V1_6)
    for name in sys.argv[1:]:
        if error := validator.validate_str(Path(name).read_text("utf-8")):
            sys.exit(f"{name}: {error}")
        print(f"{name} is valid")
