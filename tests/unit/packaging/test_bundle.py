from __future__ import annotations

import ast
import configparser
import os
import plistlib
import re
import struct
import subprocess
import sys
import tomllib
import types
from collections.abc import Callable
from importlib import metadata
from pathlib import Path, PurePosixPath
from typing import Any
from xml.etree import ElementTree

import bundle  # pyright: ignore[reportMissingImports]
import pytest
import start  # pyright: ignore[reportMissingImports]
import yaml
from packaging.requirements import Requirement
from pygments.lexers._mapping import LEXERS

import inspector
from inspector.base.optional_dependencies import EXTRAS, OTEL, YAML
from inspector.diagnostics.licences import required_distributions
from inspector.engine.process import COMMAND as ENGINE
from inspector.present.code import LANGUAGES
from inspector.sources.recorder_client import _COMMAND as RECORDER

ROOT = Path(__file__).resolve().parents[3]
LINUX = ROOT / "resources" / "linux"
PACKAGING = ROOT / "packaging"
MIME = "{http://www.freedesktop.org/standards/shared-mime-info}"


def test_the_version_is_written_in_one_place() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    assert bundle.version() == version == inspector.__version__ == metadata.version("context-inspector")
    recipes = [*PACKAGING.rglob("*"), *LINUX.iterdir(), ROOT / ".github/workflows/release.yml"]
    # An own version is a word of its own in these; pins of others are not.
    written = re.compile(rf"(?<![\d.=\w]){re.escape(version)}(?![\d.])")
    texts = {one: one.read_text("utf-8") for one in recipes if one.is_file() and one.suffix not in (".pyc", ".py")}
    assert [one.name for one, text in texts.items() if written.search(text)] == []
    # A page that names a file to install names the one there is.
    page = (ROOT / "docs/install.md").read_text("utf-8")
    assert set(re.findall(r"context[-_]inspector[-_](\d[\d.]*\w*)[-_]", page)) == {version}


@pytest.mark.parametrize(
    ("version", "debian"), [("1.0", "1.0"), ("1.0rc1", "1.0~rc1"), ("1.0.dev3", "1.0~dev3"), ("2.1.0b2", "2.1.0~b2")]
)
def test_a_version_before_a_version_is_older_to_debian(
    version: str, debian: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundle, "version", lambda: version)
    assert bundle.debian_version() == debian


def test_the_spec_compiles_and_takes_its_lists_from_the_bundle() -> None:
    text = (PACKAGING / "context-inspector.spec").read_text("utf-8")
    tree = ast.parse(text)
    taken = {
        node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "bundle"
    }
    assert {"HIDDEN_IMPORTS", "EXCLUDES", "RESOURCES", "METADATA", "belongs", "version", "info_plist"} <= taken
    assert 'collect_submodules("inspector")' in text, "commands are imported by names out of a table"
    assert all((ROOT / "resources" / one).exists() for one in bundle.RESOURCES)


@pytest.mark.parametrize(
    ("place", "source", "belongs"),
    [
        ("PySide6/Qt/lib/libQt6Core.so.6", "/venv/PySide6/Qt/lib/libQt6Core.so.6", True),
        ("PySide6/Qt/plugins/platforms/libqxcb.so", "/venv/libqxcb.so", True),
        ("PySide6/Qt/plugins/platformthemes/libqgtk3.so", "/venv/libqgtk3.so", False),
        ("PySide6\\plugins\\tls\\qschannelbackend.dll", "C:\\venv\\qschannelbackend.dll", False),
        ("context_inspector-1.0.dist-info/direct_url.json", "/venv/direct_url.json", False),
        ("tiktoken_ext/data/cl100k_base.tiktoken", "/venv/cl100k_base.tiktoken", True),
    ],
)
def test_what_belongs(place: str, source: str, belongs: bool) -> None:
    assert bundle.belongs(place, source) is belongs


def test_of_a_linux_system_only_what_differs_between_releases_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    folder = "/lib/x86_64-linux-gnu"
    assert not bundle.belongs("libX11.so.6", f"{folder}/libX11.so.6")
    assert bundle.belongs("libssl.so.3", f"{folder}/libssl.so.3")
    assert bundle.belongs("lib-dynload/_json.so", "/usr/lib/python3.11/lib-dynload/_json.so")
    monkeypatch.setattr("sys.platform", "darwin")
    assert bundle.belongs("libz.1.dylib", "/usr/lib/libz.1.dylib")


def test_of_pygments_the_lexers_of_coloured_languages_are_taken() -> None:
    loaded = {module for module, _, aliases, *_ in LEXERS.values() if LANGUAGES.keys() & set(aliases)}
    assert len(loaded) > 10
    assert bundle.module_belongs("pygments.lexers")
    assert bundle.module_belongs("pygments.lexers._mapping")
    assert [name for name in loaded if not bundle.module_belongs(name)] == []
    assert not bundle.module_belongs("pygments.lexers.haskell")


def test_windows_is_told_the_version() -> None:
    tree = ast.parse(bundle.version_info(), mode="eval")
    assert bundle.version() in {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}


def test_macos_is_told_of_captures_alone() -> None:
    info: dict[str, Any] = plistlib.loads(plistlib.dumps(bundle.info_plist()))
    kinds = info["UTExportedTypeDeclarations"][0]["UTTypeTagSpecification"]
    assert kinds["public.filename-extension"] == ["ctxcap"]
    assert info["CFBundleShortVersionString"] == bundle.version()
    assert plistlib.loads((PACKAGING / "macos/entitlements.plist").read_bytes())


def programs_of(platform: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, list[dict[str, Any]]]:
    """What the spec asks PyInstaller for on a system: keywords by EXE, COLLECT and BUNDLE."""
    asked: dict[str, list[dict[str, Any]]] = {"EXE": [], "COLLECT": [], "BUNDLE": []}
    hooks = types.SimpleNamespace(
        collect_data_files=lambda _: [], collect_submodules=lambda _: [], copy_metadata=lambda _: []
    )  # fmt: skip
    lists = types.SimpleNamespace(write=lambda *_: str(tmp_path / "licences.json"), report=lambda *_: None)
    monkeypatch.setitem(sys.modules, "PyInstaller.utils.hooks", hooks)  # it is installed only to build
    monkeypatch.setitem(sys.modules, "licence_list", lists)
    monkeypatch.setattr(sys, "platform", platform)

    def taken(which: str) -> Callable[..., None]:
        return lambda *_, **said: asked[which].append(said)

    names: dict[str, Any] = {which: taken(which) for which in asked}
    found = types.SimpleNamespace(pure=[], binaries=[], datas=[], scripts=[])
    spec = (PACKAGING / "context-inspector.spec").read_text("utf-8")
    names |= {"SPECPATH": str(PACKAGING), "Analysis": lambda *_, **__: found, "PYZ": lambda _: None}
    exec(compile(spec, "context-inspector.spec", "exec"), names)
    return asked


def test_what_has_a_window_has_no_console_but_on_linux(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    linux, windows, macos = (programs_of(one, tmp_path, monkeypatch) for one in ("linux", "win32", "darwin"))
    assert [(one["name"], one["console"]) for one in linux["EXE"]] == [("context-inspector", True)]
    assert [(one["name"], one["console"]) for one in windows["EXE"]] == [
        ("context-inspector", False), ("context-inspector-cli", True),
    ]  # fmt: skip
    # PyInstaller says LSBackgroundOnly of an .app with a console: it would have no place in the Dock, and no menu.
    assert [(one["name"], one["console"]) for one in macos["EXE"]] == [("context-inspector", False)]
    (app,) = macos["BUNDLE"]
    assert (app["name"], app["version"]) == ("Context Inspector.app", bundle.version())
    assert (linux["BUNDLE"], windows["BUNDLE"]) == ([], [])


def test_the_disk_image_shows_the_app_beside_applications() -> None:
    look: dict[str, Any] = {"defines": {"app": "made/Context Inspector.app"}}
    exec((PACKAGING / "macos/dmg_settings.py").read_text("utf-8"), look)
    assert look["files"] == ["made/Context Inspector.app"]
    assert look["icon_locations"].keys() == {"Context Inspector.app", *look["symlinks"]}
    (_, (width, height)) = look["window_rect"]
    assert all(0 < x < width and 0 < y < height for x, y in look["icon_locations"].values())


def test_the_desktop_entry() -> None:
    entry = configparser.ConfigParser(interpolation=None)
    entry.optionxform = str  # pyright: ignore[reportAttributeAccessIssue]
    entry.read(LINUX / "context-inspector.desktop", "utf-8")
    main = entry["Desktop Entry"]
    assert {key: main[key] for key in ("Type", "Name", "Exec", "Icon", "Terminal", "MimeType")} == {
        "Type": "Application", "Name": "Context Inspector", "Exec": "context-inspector %F", "Icon": "context-inspector",
        "Terminal": "false", "MimeType": f"{bundle.MIME_TYPE};",
    }  # fmt: skip
    assert [f"Desktop Action {one}" for one in main["Actions"].split(";") if one] == entry.sections()[1:]


def test_the_file_type_is_that_of_captures_and_nothing_else() -> None:
    (kind,) = ElementTree.parse(LINUX / "context-inspector.xml").getroot()
    assert kind.get("type") == bundle.MIME_TYPE
    assert [glob.get("pattern") for glob in kind.iter(f"{MIME}glob")] == [f"*.{bundle.EXTENSION}"]
    assert list(kind.iter(f"{MIME}magic")) == []


def test_the_software_centre_is_told_the_same() -> None:
    told = ElementTree.parse(LINUX / "context-inspector.metainfo.xml").getroot()
    assert told.findtext("id") == bundle.IDENTIFIER
    assert told.findtext("launchable") == "context-inspector.desktop"
    assert told.findtext("provides/mediatype") == bundle.MIME_TYPE


def test_the_recipe_of_nfpm_is_filled_in_by_the_build() -> None:
    text = (PACKAGING / "linux/nfpm.yaml").read_text("utf-8")
    build = (PACKAGING / "build.py").read_text("utf-8")
    names = re.findall(r"@([A-Z]+)@", text)
    assert [name for name in names if f'"{name}"' not in build] == []
    recipe = yaml.safe_load(re.sub(r"(?<!\")@[A-Z]+@", "[]", text))
    assert recipe["name"] == bundle.NAME
    for script in recipe["scripts"].values():
        assert (PACKAGING / "linux" / script.rpartition("/")[2]).is_file()


def test_the_setup_program_refers_to_what_exists_or_is_made() -> None:
    script = PACKAGING / "windows/context-inspector.iss"
    text = script.read_text("utf-8")
    found = re.findall(r'(?:#include "|LicenseFile=|SetupIconFile=|Source: ")([^"\n]+)', text)
    made = {"version.iss", "icon.ico", "*"}
    for place in found:
        path = (script.parent / place.replace("\\", "/")).resolve()
        assert path.name in made or path.is_file(), place
    assert len(found) == 4
    # What was installed is taken away from the last line to the first: the key goes when its values have gone.
    kind = [line for line in text.splitlines() if "\\Classes\\." in line]
    assert [set(re.findall(r"\.ctxcap|unins\w+", line)) for line in kind] == [
        {".ctxcap", "uninsdeletevalue", "uninsdeletekeyifempty"}, {".ctxcap", "uninsdeletevalue"},
    ]  # fmt: skip
    code = ast.parse((PACKAGING / "start.py").read_text("utf-8"))
    (running,) = (node.value for node in code.body if isinstance(node, ast.Assign))
    assert re.findall(r"^AppMutex=(.+)$", text, re.MULTILINE) == [ast.literal_eval(running)]
    # The path of all users lies elsewhere than that of one, and what the setup adds it takes away.
    (path,) = (line for line in text.splitlines() if line.startswith("Root") and 'ValueName: "Path"' in line)
    assert 'Subkey: "{code:EnvironmentKey}"' in path
    assert r"SYSTEM\CurrentControlSet\Control\Session Manager\Environment" in text
    assert "RegWriteExpandStringValue(HKA, EnvironmentKey(''), 'Path', Path)" in text.partition("UninstallStep")[2]


_ISS_PARAMETERS = {
    "Tasks": {"Name", "Description", "Flags"},
    "InstallDelete": {"Type", "Name"},
    "Files": {"Source", "DestDir", "Flags"},
    "Icons": {"Name", "Filename", "Tasks"},
    "Registry": {"Root", "Subkey", "ValueType", "ValueName", "ValueData", "Flags", "Tasks", "Check"},
    "Run": {"Filename", "Description", "Flags"},
}
"""Of those that Inno Setup's help lists for each section, what the script uses."""


def test_each_line_of_the_setup_program_is_of_its_section() -> None:
    section, seen = "", set[str]()
    code: list[str] = []
    for line in (PACKAGING / "windows/context-inspector.iss").read_text("utf-8").splitlines():
        if head := re.fullmatch(r"\[(\w+)\]", line):
            section = head[1]
            seen.add(section)
        elif section == "Code":
            code.append(line)
        elif not line or line.startswith((";", "#")):
            continue
        elif section == "Setup":
            assert re.fullmatch(r"[A-Z]\w+=\S.*", line), line
        else:
            parts = re.findall(r'(\w+): ("(?:[^"]|"")*"|[\w ]+)(?:; |$)', line)
            assert "; ".join(f"{name}: {value}" for name, value in parts) == line, line
            assert {name for name, _ in parts} <= _ISS_PARAMETERS[section], line
    assert seen == {"Setup", *_ISS_PARAMETERS, "Code"}
    words = re.findall(r"\b(?:begin|end)\b", re.sub(r"\{.*?\}|'[^']*'", "", "\n".join(code)))
    assert words.count("begin") == words.count("end") > 0
    # What the compiler signs it is told to on its command line, by the name the script gives.
    (tool,) = re.findall(r"SignTool=(\w+)", (PACKAGING / "windows/context-inspector.iss").read_text("utf-8"))
    assert f'"/DSign", "/S{tool}=pwsh ' in (ROOT / ".github/workflows/release.yml").read_text("utf-8")


@pytest.mark.real
def test_the_packaged_program_starts_its_engine_and_recorder() -> None:
    for command in (ENGINE, RECORDER):
        assert command[0] == sys.executable
        words = [sys.executable, str(PACKAGING / "start.py"), *command[1:4], "--help"]
        ran = subprocess.run(
            words, capture_output=True, text=True, check=False, timeout=240, env={**os.environ, "PYTHONPATH": str(ROOT)}
        )
        assert (ran.returncode, "No such option" in ran.stderr) == (0, False), command


def test_programs_started_by_the_package_do_not_load_its_libraries() -> None:
    bundled = {
        "_PYI_ARCHIVE_FILE": "/bundle/program", "_PYI_PARENT_PROCESS_LEVEL": "1", "QT_PLUGIN_PATH": "/bundle/plugins",
        "QML2_IMPORT_PATH": "/bundle/qml", "LD_LIBRARY_PATH": "/bundle/_internal",
    }  # fmt: skip
    environment = {"HOME": "/home/ann", **bundled}
    start.restore_environment(environment)
    assert environment == {"HOME": "/home/ann"}
    environment = {"LD_LIBRARY_PATH_ORIG": "/opt/lib", **bundled}
    start.restore_environment(environment)
    assert environment == {"LD_LIBRARY_PATH": "/opt/lib"}


def test_what_a_job_runs_can_be_run_by_its_own_python() -> None:
    flow = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text("utf-8"))
    for name, job in flow["jobs"].items():
        chosen = any("setup-python" in step.get("uses", "") for step in job["steps"])
        runs = any("python" in step.get("run", "") for step in job["steps"])
        # That of ubuntu-22.04 is 3.10, which has no tomllib.
        assert chosen or not runs or job["runs-on"] == "ubuntu-24.04", name


@pytest.mark.parametrize("name", ["ci.yml", "release.yml"])
def test_the_workflow_is_read_and_its_actions_are_pinned(name: str) -> None:
    flow = yaml.safe_load((ROOT / ".github/workflows" / name).read_text("utf-8"))
    steps = [step for job in flow["jobs"].values() for step in job["steps"]]
    used = [step["uses"] for step in steps if "uses" in step]
    assert used
    assert [one for one in used if not re.fullmatch(r"[\w/.-]+@[0-9a-f]{40}", one)] == []
    scripts = "\n".join(step["run"] for step in steps if "run" in step)
    named = re.findall(r"(?<![\w-])(?:packaging|tests)/[\w./-]+\.\w+", scripts)
    assert named
    assert [one for one in named if not (ROOT / one).is_file()] == []
    assert flow["permissions"] == {"contents": "read"}


def test_each_system_is_tried_before_a_release() -> None:
    flow = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text("utf-8"))
    assert set(flow["jobs"]["draft"]["needs"]) == flow["jobs"].keys() - {"draft"}
    for name in flow["jobs"].keys() - {"draft"}:
        steps = flow["jobs"][name]["steps"]
        tried = "\n".join(step["run"] for step in steps if str(step.get("name", "")).startswith("Try"))
        for command in ("--version", "summary", "screenshot", "demo --seconds"):
            assert command in tried, (name, command)
        (kept,) = [step["with"]["path"].split() for step in steps if "upload-artifact" in step.get("uses", "")]
        assert "dist/*.png" in kept
        assert name == "wheel" or "dist/*.cdx.json" in kept
    linux = str(flow["jobs"]["linux"])
    assert "sha256sum --check" in linux
    assert "dist/*.AppImage" in linux


def test_keys_reach_only_the_steps_that_sign() -> None:
    flow = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text("utf-8"))
    given = [step["name"] for job in flow["jobs"].values() for step in job["steps"] if "secrets." in str(step)]
    assert given == [
        "Sign the programs", "Make the setup program, signed", "Take the certificate",
        "Sign, make the disk image, notarise",
    ]  # fmt: skip
    # A job is only told whether there are any.
    told = [value for job in flow["jobs"].values() for value in job.get("env", {}).values()]
    assert told
    assert [one for one in told if not re.fullmatch(r"\$\{\{ secrets\.\w+ != '' \}\}", one)] == []
    assert "secrets." not in str(flow.get("env"))


def test_a_package_holds_no_extra_but_its_own_wherever_it_is_built() -> None:
    # `make setup` puts all of them where `make package` builds from.
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    brought = {
        re.sub(r"[-_.]+", "-", one.metadata["Name"]).lower() for one in required_distributions("context-inspector")
    }
    extras = {one.name for one in EXTRAS} & project["optional-dependencies"].keys()
    others = extras - {"otel", "yaml"}
    for extra in others:
        names = {Requirement(line).name for line in project["optional-dependencies"][extra]}
        assert names - brought <= set(bundle.EXCLUDES)
    assert not {*OTEL.modules, *YAML.modules} & set(bundle.EXCLUDES)


def test_what_a_release_is_built_of_is_written_down() -> None:
    text = (ROOT / ".github/workflows/release.yml").read_text("utf-8")
    flow = yaml.safe_load(text)
    assert (ROOT / flow["env"]["PIP_CONSTRAINT"]).is_file()
    given = ('-e ".[package]"', "dist/*.whl")  # the wheel gets the libraries that users get
    installed = re.findall(r"(?:pip|choco) install (.+)", text)
    assert installed
    assert [one for one in installed if "_VERSION }}" not in one and one not in given] == []
    lines = (PACKAGING / "constraints.txt").read_text("utf-8").splitlines()
    pins = dict(line.split("==") for line in lines if not line.startswith("#"))
    assert list(pins) == sorted(pins)
    needed = {
        re.sub(r"[-_.]+", "-", one.metadata["Name"]).lower() for one in required_distributions("context-inspector")
    }
    assert needed - set(pins) == {"context-inspector"}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    (own, *tools) = extras["package"]
    assert own == "context-inspector[otel,yaml]"
    for line in (*project["dependencies"], *extras["otel"], *extras["yaml"], *tools):
        wanted = Requirement(line)
        assert wanted.specifier.contains(pins[wanted.name.lower()]), line


def test_shell_scripts_are_sound() -> None:
    scripts = [*PACKAGING.rglob("*.sh"), PACKAGING / "linux/postinst", PACKAGING / "linux/postrm"]
    for script in scripts:
        assert script.stat().st_mode & 0o111, script
        subprocess.run(["bash", "-n", str(script)], check=True)


def test_icons_in_all_sizes(qapp: object) -> None:
    import icons  # pyright: ignore[reportMissingImports]

    svg = ROOT / "resources/icons/context-inspector.svg"
    assert {16, 22, 24, 32, 48, 64, 128, 256, 512} == set(icons.SIZES)
    for size in (16, 512):
        picture = icons.png(svg, size)
        assert picture.startswith(b"\x89PNG")
        assert struct.unpack(">LL", picture[16:24]) == (size, size)
    ico, icns = icons.ico(svg), icons.icns(svg)
    assert struct.unpack("<HHH", ico[:6]) == (0, 1, 8)
    place, length = struct.unpack("<LL", ico[6 + 16 * 7 + 8 : 6 + 16 * 8])[::-1]
    assert ico[place : place + 4] == b"\x89PNG"
    assert place + length == len(ico)
    assert icns[:4] == b"icns"
    assert struct.unpack(">L", icns[4:8]) == (len(icns),)


_BLOCKED = """
import sys
sys.path.insert(0, "packaging")
import bundle

class Missing:
    def find_spec(self, name, path=None, target=None):
        out = any(name == one or name.startswith(one + ".") for one in bundle.EXCLUDES)
        if out or not bundle.module_belongs(name):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
from inspector.__main__ import main
main()
"""


@pytest.mark.parametrize("panel", ["Tokens", "Waste"])
@pytest.mark.real
def test_it_runs_without_what_is_left_out(panel: str, tmp_path: Path) -> None:
    picture = tmp_path / "picture.png"
    capture = "tests/data/captures/demo-round.ctxcap"
    done = subprocess.run(
        [sys.executable, "-c", _BLOCKED, "screenshot", capture, "-o", str(picture), "--panel", panel],
        capture_output=True, text=True, check=False, cwd=ROOT, timeout=120,
        env={**os.environ, "CONTEXT_INSPECTOR_HOME": str(tmp_path / "home")},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert picture.stat().st_size > 10_000


def test_the_wheel_and_the_bundle_hold_the_same_guide() -> None:
    """`docs` holds pages, pictures and examples only: the wheel takes the whole folder."""
    included = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]["targets"]["wheel"]
    guide = {source: place for source, place in included["force-include"].items() if "/guide/" in place}
    assert set(guide) == set(bundle.GUIDE)
    for source, place in guide.items():
        assert place == f"inspector/_resources/guide/{source}"
        assert bundle.guide_place(source) in (place, str(PurePosixPath(place).parent))
    assert {one.suffix for one in (ROOT / "docs").rglob("*") if one.is_file()} == {".md", ".png", ".py"}
