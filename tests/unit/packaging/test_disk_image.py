"""`packaging/macos/sign.sh` as it goes through, with Apple's programs played by scripts on its PATH."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
FILES = ("packaging/macos/sign.sh", "packaging/version.py", "packaging/bundle.py", "pyproject.toml")
PASSWORD = "abcd-efgh-ijkl-mnop"

# notarytool ends with 0 when Apple says Invalid, too; stapler with 65 where there is no ticket.
CODESIGN = "#!/bin/sh\nexit 0\n"
XCRUN = """#!/bin/sh
echo "$1 $2" >> calls
case "$1 $2" in
    "notarytool submit") printf '%s\\n' "$ANSWER"; exit "$SUBMITTED" ;;
    "notarytool log") echo '{"issues": [{"message": "The signature of the binary is invalid."}]}' ;;
    "stapler staple") case "$ANSWER" in *Accepted*) ;; *) echo "Error 65." >&2; exit 65 ;; esac ;;
esac
"""
PYTHON = f"""#!/bin/sh
[ "$2" = dmgbuild ] || exec {sys.executable} -S "$@"
for image; do :; done
echo image > "$image"
"""


def signed(place: Path, answer: str, submitted: int) -> tuple[subprocess.CompletedProcess[str], list[str]]:
    """Runs the script in a checkout at `place`, and says which of Apple's programs it called."""
    for name in FILES:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, place / name)
    (place / "build/package/dist/Context Inspector.app/Contents/Frameworks").mkdir(parents=True)
    (place / "bin").mkdir()
    for name, text in (("codesign", CODESIGN), ("xcrun", XCRUN), ("python3", PYTHON)):
        (place / "bin" / name).write_text(text, "utf-8")
        (place / "bin" / name).chmod(0o755)
    keys = {"MACOS_IDENTITY": "Developer ID", "NOTARY_APPLE_ID": "us@example.org", "NOTARY_TEAM_ID": "TEAM"}
    told = {**keys, "NOTARY_PASSWORD": PASSWORD, "ANSWER": answer, "SUBMITTED": str(submitted)}
    told["PATH"] = f"{place / 'bin'}{os.pathsep}{os.environ['PATH']}"
    script = place / "packaging/macos/sign.sh"
    ran = subprocess.run(["bash", script], env={**os.environ, **told}, capture_output=True, text=True, check=False)
    return ran, (place / "calls").read_text("utf-8").splitlines()


@pytest.mark.real
@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_only_an_image_that_apple_accepted_gets_its_ticket(tmp_path: Path) -> None:
    def answered(status: str) -> str:
        return json.dumps({"id": "2efe2717-52ef", "status": status, "message": "Processing complete"})

    ran, calls = signed(tmp_path / "accepted", answered("Accepted"), 0)
    assert ran.returncode == 0, ran.stderr
    assert calls == ["notarytool submit", "stapler staple"]
    assert ran.stdout.splitlines()[-1].endswith(".dmg")

    ran, calls = signed(tmp_path / "invalid", answered("Invalid"), 0)
    assert ran.returncode == 1
    assert calls == ["notarytool submit", "notarytool log"]
    *log, last = ran.stderr.splitlines()
    assert "The signature of the binary is invalid." in "\n".join(log)
    assert ".dmg, its answer is: Invalid." in last
    assert last.endswith("xcrun notarytool log 2efe2717-52ef --apple-id us@example.org --team-id TEAM")
    assert PASSWORD not in ran.stdout + ran.stderr

    ran, calls = signed(tmp_path / "unsent", "HTTP status code: 401. Invalid credentials.", 69)
    assert ran.returncode == 1
    assert calls == ["notarytool submit"]
    assert ran.stderr.endswith(".dmg: HTTP status code: 401. Invalid credentials.\n")

    ran, calls = signed(tmp_path / "odd", "no JSON", 0)
    assert ran.returncode == 1
    assert calls == ["notarytool submit"]
    assert ran.stderr == "sign: the answer of notarytool, above, has no id\n"
