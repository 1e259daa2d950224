"""Builds the packaged program for the system this runs on; `make package` runs it. Results lie in dist/.

    python packaging/build.py            everything for this system
    python packaging/build.py prepare    only what the spec and the installers need beside the bundle

Linux: a .deb, a portable .tar.gz and, with a runtime, an AppImage. Windows and macOS: the bundle; `windows/` and
`macos/` make installers of it. All: the bill of materials.
"""

from __future__ import annotations

import gzip
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import appimage
import bundle
import command_help
import deb_file
import icons
import icu_data
import sbom
import sizes
from bundle import moment

MADE = bundle.ROOT / "build" / "package"
DIST = bundle.ROOT / "dist"
FOLDER = MADE / "dist" / bundle.NAME
_LINUX = bundle.ROOT / "resources" / "linux"
_PACKAGING = bundle.ROOT / "packaging"
_SVG = bundle.ROOT / "resources" / "icons" / f"{bundle.NAME}.svg"
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def prepare() -> None:
    """Make what the spec and the installers read."""
    MADE.mkdir(parents=True, exist_ok=True)
    (MADE / "icon.ico").write_bytes(icons.ico(_SVG))
    (MADE / "icon.icns").write_bytes(icons.icns(_SVG))
    (MADE / "version-info.txt").write_text(bundle.version_info(), "utf-8")
    (MADE / "version.iss").write_text(f'#define AppVersion "{bundle.version()}"\n', "utf-8")


def build_folder() -> None:
    """Make the folder with the program and all it needs."""
    subprocess.run(
        [
            sys.executable, "-m", "PyInstaller", "--noconfirm", "--log-level", "WARN",
            "--distpath", str(MADE / "dist"), "--workpath", str(MADE / "work"),
            str(_PACKAGING / "context-inspector.spec"),
        ],
        check=True, env={**os.environ, "PYTHONHASHSEED": "1", "SOURCE_DATE_EPOCH": str(moment())},
    )  # fmt: skip


def strip() -> None:
    """Drop symbols. Not of libraries that wheels bring in `*.libs`: they were moved about and do not survive it."""
    for file in sorted(FOLDER.rglob("*.so*")):
        if not file.is_symlink() and not any(part.endswith(".libs") for part in file.parts):
            subprocess.run(["strip", "--strip-unneeded", str(file)], check=True)


def plain_libraries() -> None:
    """Let only the program be run: libraries are loaded."""
    for file in FOLDER.rglob("*.so*"):
        if not file.is_symlink():
            file.chmod(0o644)


def forget_builder() -> None:
    """Let no library look for others where the builder's Python lies: beside itself is where they are."""
    told = f"{sys.base_prefix}/lib".encode()
    for file in FOLDER.rglob("*.so*"):
        data = b"" if file.is_symlink() else file.read_bytes()
        if told + b"\0" in data:
            file.write_bytes(data.replace(told + b"\0", b"$ORIGIN".ljust(len(told) + 1, b"\0")))


def oldest_libc() -> str:
    """The oldest C library that has all the bundle asks for."""
    files = [
        str(file) for file in FOLDER.rglob("*") if file.is_file() and (".so" in file.name or file.name == FOLDER.name)
    ]
    listed = subprocess.run(["objdump", "-T", *files], capture_output=True, text=True, check=False).stdout
    found = re.findall(r"\(?GLIBC_(\d+)\.(\d+)", listed)
    return ".".join(str(part) for part in max((int(major), int(minor)) for major, minor in found))


# ---- Linux ----------------------------------------------------------------------------------------------------------


def share(folder: Path) -> None:
    """Lay out what a desktop and a shell read, below `share/`."""
    day = time.strftime("%Y-%m-%d", time.gmtime(moment()))
    for name, place in (
        (f"{bundle.NAME}.desktop", "applications"),
        (f"{bundle.NAME}.xml", "mime/packages"),
    ):
        _write(folder / place / name, (_LINUX / name).read_bytes())
    info = (_LINUX / f"{bundle.NAME}.metainfo.xml").read_text("utf-8")
    info = info.replace("@VERSION@", bundle.version()).replace("@DATE@", day)
    _write(folder / "metainfo" / f"{bundle.IDENTIFIER}.metainfo.xml", info.encode())
    for size in icons.SIZES:
        _write(folder / f"icons/hicolor/{size}x{size}/apps/{bundle.NAME}.png", icons.png(_SVG, size))
    _write(folder / f"icons/hicolor/scalable/apps/{bundle.NAME}.svg", _SVG.read_bytes())
    page = command_help.man_page(bundle.version(), day).encode()
    _write(folder / f"man/man1/{bundle.NAME}.1.gz", gzip.compress(page, mtime=0))
    _write(folder / "bash-completion/completions" / bundle.NAME, command_help.bash().encode())
    _write(folder / f"zsh/vendor-completions/_{bundle.NAME}", command_help.zsh().encode())
    _write(folder / f"fish/vendor_completions.d/{bundle.NAME}.fish", command_help.fish().encode())


def deb() -> Path:
    """Make the Debian package."""
    root = MADE / "root"
    shutil.rmtree(root, ignore_errors=True)
    home = root / "usr/lib" / bundle.NAME
    shutil.copytree(FOLDER, home, symlinks=True)
    (root / "usr/bin").mkdir()
    (root / "usr/bin" / bundle.NAME).symlink_to(f"../lib/{bundle.NAME}/{bundle.NAME}")
    share(root / "usr/share")
    papers = root / "usr/share/doc" / bundle.NAME
    guide(papers / "guide")
    _write(papers / "copyright", copyright_text(home).encode())
    _write(papers / "sbom.cdx.json", sbom.text(home, moment()).encode())
    changes = (bundle.ROOT / "CHANGELOG.md").read_bytes()
    _write(papers / "changelog.gz", gzip.compress(changes, mtime=0))
    _write(papers / "changelog.Debian.gz", gzip.compress(debian_changes().encode(), mtime=0))
    machine = _ARCHITECTURES.get(platform.machine(), platform.machine())
    version = bundle.debian_version()
    values = {
        "ARCH": machine, "VERSION": version, "ROOT": str(root), "SCRIPTS": str(_PACKAGING / "linux"),
        "MTIME": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment())),
        "DEPENDS": json.dumps([f"libc6 (>= {oldest_libc()})", *bundle.DEPENDS]),
        "RECOMMENDS": json.dumps(bundle.RECOMMENDS),
    }  # fmt: skip
    recipe = (_PACKAGING / "linux/nfpm.yaml").read_text("utf-8")
    for name, value in values.items():
        recipe = recipe.replace(f"@{name}@", value)
    (MADE / "nfpm.yaml").write_text(recipe, "utf-8")
    _age(root)
    made = DIST / f"{bundle.NAME}_{version}_{machine}.deb"
    nfpm = Path(sys.executable).with_name("nfpm")
    subprocess.run([nfpm, "package", "-f", MADE / "nfpm.yaml", "-p", "deb", "-t", made], check=True)
    deb_file.tighten(made)
    return made


def portable() -> Path:
    """Make the archive that runs from any folder."""
    name = f"{bundle.NAME}-{bundle.version()}-linux-{platform.machine()}"
    beside = MADE / "portable"
    shutil.rmtree(beside, ignore_errors=True)
    share(beside / "share")
    guide(beside / "guide")
    _write(beside / "README.txt", (_PACKAGING / "linux/portable.txt").read_bytes())
    _write(beside / "COPYRIGHT.txt", copyright_text(FOLDER).encode())
    _write(beside / "sbom.cdx.json", sbom.text(FOLDER, moment()).encode())
    made = DIST / f"{name}.tar.gz"
    with (
        made.open("wb") as file,
        gzip.GzipFile("", "wb", 6, file, mtime=moment()) as packed,
        tarfile.open(fileobj=packed, mode="w") as archive,
    ):
        archive.add(FOLDER, name, filter=_nobodys)
        for one in sorted(beside.iterdir()):
            archive.add(one, f"{name}/{one.name}", filter=_nobodys)
    return made


def app_image() -> list[Path]:
    """Makes the AppImage, and its AppDir in any case. Returns the files."""
    folder = MADE / "AppDir"
    share(MADE / "share")
    appimage.lay_out(FOLDER, MADE / "share", folder)
    _write(folder / f"usr/share/doc/{bundle.NAME}/copyright", copyright_text(FOLDER).encode())
    _write(folder / f"usr/share/doc/{bundle.NAME}/sbom.cdx.json", sbom.text(FOLDER, moment()).encode())
    made = DIST / f"{bundle.NAME}-{bundle.version()}-linux-{platform.machine()}.AppImage"
    try:
        return [appimage.pack(folder, made, moment())]
    except appimage.RuntimeMissingError as error:
        print(error)
        return []


def bill_of_materials() -> Path:
    """Writes the bill of materials of this system's bundle beside the packages."""
    system = {"win32": "windows", "darwin": "macos"}.get(sys.platform, "linux")
    machine = {"amd64": "x86_64"}.get(platform.machine().lower(), platform.machine().lower())
    made = DIST / f"{bundle.NAME}-{bundle.version()}-{system}-{machine}.cdx.json"
    made.write_text(sbom.text(FOLDER, moment()), "utf-8", newline="\n")
    return made


def guide(folder: Path) -> None:
    """Lay out the pages that users read as they lie in the checkout, and beside them what they show from elsewhere."""
    docs = bundle.ROOT / "docs"
    beside = {"SECURITY.md"}
    for file in sorted(docs.rglob("*")):
        if file.suffix in (".md", ".png"):
            _write(folder / file.relative_to(docs), file.read_bytes())
        if file.suffix == ".md":
            beside |= set(re.findall(r"!\[[^]]*\]\(\.\./([^)]+)\)", file.read_text("utf-8")))
    for name in beside:
        _write(folder.parent / name, (bundle.ROOT / name).read_bytes())


def debian_changes() -> str:
    """What Debian wants to read of a version: what changed stands in the changelog beside it."""
    recipe = (_PACKAGING / "linux/nfpm.yaml").read_text("utf-8")
    said = dict(re.findall(r'^(\w+): "?([^"\n]+)', recipe, re.MULTILINE))
    version = f"{bundle.debian_version()}-{said['release']}"
    day = time.strftime("%a, %d %b %Y %H:%M:%S +0000", time.gmtime(moment()))
    return (
        f"{bundle.NAME} ({version}) unstable; urgency=medium\n\n"
        f"  * Version {bundle.version()}; what changed stands in changelog.gz.\n\n -- {said['maintainer']}  {day}\n"
    )


def copyright_text(folder: Path) -> str:
    """The program's own licence, then whose work it carries and on what terms."""
    listed = json.loads((folder / "_internal/inspector/_resources/licences.json").read_text("utf-8"))
    lines = [f"{one['name']} {one['version']}: {one['licence']}" for one in listed]
    texts = [f"{'=' * 80}\n{one['name']}\n{'=' * 80}\n\n{one['text'].strip()}\n" for one in listed if one["text"]]
    own = (bundle.ROOT / "LICENSE").read_text("utf-8")
    return "\n".join([own, "The package carries, each on its own terms:\n", *lines, "", *texts])


def _nobodys(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = "root"
    entry.mtime = moment()
    return entry


def _age(folder: Path) -> None:
    """Give everything in it the age of what it was made of, for nfpm takes it from the files."""
    for one in (*folder.rglob("*"), folder):
        os.utime(one, (moment(), moment()), follow_symlinks=False)


def _write(file: Path, data: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    file.chmod(0o644)


def main() -> None:
    """Build what is asked for."""
    prepare()
    if sys.argv[1:] == ["prepare"]:
        return
    DIST.mkdir(exist_ok=True)
    build_folder()
    bill_of_materials()
    if not sys.platform.startswith("linux"):
        print(f"Built {MADE / 'dist'}; packaging/README.md says how an installer is made of it.")
        return
    strip()
    plain_libraries()
    forget_builder()
    for library in FOLDER.rglob("libicudata.so.*"):
        if not library.is_symlink():
            icu_data.trim(library)
    made = [deb(), portable(), *app_image()]
    report = sizes.report(FOLDER, MADE / "left-out.txt", made)
    (MADE / "sizes.txt").write_text(report, "utf-8")
    print(report)


if __name__ == "__main__":
    main()
