#!/usr/bin/env bash
# Sets up a checkout: system libraries that Qt needs, .venv, and the project in it.
#
#   packaging/setup.sh run      what is needed to run
#   packaging/setup.sh dev      and to test and lint
#   packaging/setup.sh package  to build packages
#
# Quick when there is nothing to do. Libraries are installed with apt where apt exists and may be used; else the one
# line to type is printed. Set PYTHON to choose the interpreter.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mode="${1:-run}"
case "$mode" in
    run | dev | package) ;;
    *) echo "usage: packaging/setup.sh run|dev|package" >&2; exit 2 ;;
esac

say() { echo "setup: $*"; }
fail() { echo "setup: $*" >&2; exit 1; }

# ---- system packages ------------------------------------------------------------------------------------------------

# library, Debian package; what the window needs offscreen, then on an X11 display
libraries=(
    libGL.so.1=libgl1
    libEGL.so.1=libegl1
    libxkbcommon.so.0=libxkbcommon0
    libglib-2.0.so.0=libglib2.0-0
    libfontconfig.so.1=libfontconfig1
    libdbus-1.so.3=libdbus-1-3
    libxkbcommon-x11.so.0=libxkbcommon-x11-0
    libxcb-cursor.so.0=libxcb-cursor0
    libxcb-icccm.so.4=libxcb-icccm4
    libxcb-keysyms.so.1=libxcb-keysyms1
    libxcb-shape.so.0=libxcb-shape0
)

missing_libraries() {
    local ldconfig known entry
    ldconfig="$(command -v ldconfig || echo /sbin/ldconfig)"
    [[ -x "$ldconfig" ]] || return 0
    known="$("$ldconfig" -p 2>/dev/null || true)"
    for entry in "${libraries[@]}"; do
        [[ "$known" == *"${entry%%=*} "* ]] || echo "${entry#*=}"
    done
}

missing_programs() {
    command -v Xvfb >/dev/null || echo xvfb
    command -v xauth >/dev/null || echo xauth
}

# The bus of screen readers, and a Python that speaks to it: the system's own, for only that has gi.
missing_for_screen_readers() {
    [[ -x /usr/libexec/at-spi-bus-launcher || -x /usr/lib/at-spi2-core/at-spi-bus-launcher ]] || echo at-spi2-core
    command -v dbus-run-session >/dev/null || echo dbus
    /usr/bin/python3 -c 'from gi.repository import Gio' >/dev/null 2>&1 || echo python3-gi
}

# How to become root: "" when already root, a sudo command, or "no".
root_prefix() {
    if [[ "$(id -u)" == 0 ]]; then
        echo ""
    elif command -v sudo >/dev/null && { [[ -t 0 ]] || sudo -n true 2>/dev/null; }; then
        [[ -t 0 ]] && echo "sudo" || echo "sudo -n"
    else
        echo "no"
    fi
}

# install_packages WHY PACKAGE...: true when all were installed
install_packages() {
    local why="$1" prefix log
    shift
    say "missing on this system: $* ($why)"
    if ! command -v apt-get >/dev/null; then
        say "there is no apt here; install what your system calls them, on Debian and Ubuntu: apt-get install $*"
        return 1
    fi
    prefix="$(root_prefix)"
    if [[ "$prefix" == no ]]; then
        say "this needs root; type:  sudo apt-get install -y $*"
        return 1
    fi
    say "installing with apt: $*"
    log="$(mktemp)"
    # shellcheck disable=SC2086 # the prefix is a command with its option, or nothing
    if apt_get "$prefix" install "$@" >"$log" 2>&1 ||
        { apt_get "$prefix" update >>"$log" 2>&1 && apt_get "$prefix" install "$@" >>"$log" 2>&1; }; then
        rm -f "$log"
        return 0
    fi
    tail -n 15 "$log" >&2
    rm -f "$log"
    say "apt could not install them; type:  ${prefix:+$prefix }apt-get update && ${prefix:+$prefix }apt-get install -y $*"
    return 1
}

apt_get() {
    local prefix="$1" verb="$2"
    shift 2
    if [[ "$verb" == update ]]; then
        $prefix env DEBIAN_FRONTEND=noninteractive apt-get -qq update </dev/null
    else
        $prefix env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install "$@" </dev/null
    fi
}

if [[ "$(uname -s)" == Linux ]]; then
    mapfile -t wanted < <(missing_libraries)
    if ((${#wanted[@]})); then
        install_packages "Qt cannot open a window without them" "${wanted[@]}" || exit 1
    fi
    if [[ "$mode" == package ]] && ! command -v strip >/dev/null; then
        install_packages "strip and objdump, for the libraries of the package" binutils || exit 1
    fi
    if [[ "$mode" == dev ]]; then
        mapfile -t wanted < <(missing_programs)
        if ((${#wanted[@]})); then
            install_packages "a virtual display for the real-window test" "${wanted[@]}" ||
                say "going on without; the real-window test is skipped"
        fi
        mapfile -t wanted < <(missing_for_screen_readers)
        if ((${#wanted[@]})); then
            install_packages "a bus of screen readers for their test" "${wanted[@]}" ||
                say "going on without; the test of screen readers is skipped"
        fi
    fi
fi

# ---- Python ---------------------------------------------------------------------------------------------------------

find_python() {
    local candidate
    for candidate in ${PYTHON:+"$PYTHON"} python3 python3.11 python3.12 python3.13 python3.14 python; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
            echo "$candidate"
            return 0
        fi
    done
    return 1
}

if ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
    if ! find_python >/dev/null && ! command -v python3 >/dev/null; then
        install_packages "the program runs on Python" python3 python3-venv || true
    fi
    python="$(find_python)" || fail "Python 3.11 or newer is needed and was not found; set PYTHON=/path/to/python3"
    if ! "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then
        version="$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')"
        install_packages "$python cannot make a virtual environment without it" "python$version-venv" ||
            fail "$python has no venv module, so .venv cannot be made"
    fi
    say "creating .venv with $("$python" --version)"
    rm -rf .venv
    "$python" -m venv .venv || { rm -rf .venv; fail "$python could not create .venv, see above"; }
fi

# A package carries the interpreter's library, which Debian's own interpreter does without.
missing_python_library() {
    .venv/bin/python - <<'END'
import ctypes, pathlib, sys, sysconfig
name = sysconfig.get_config_var("INSTSONAME") or ""
there = pathlib.Path(sysconfig.get_config_var("LIBDIR") or "/", name).exists()
try:
    if ".so" in name and not there:
        ctypes.CDLL(name)
except OSError:
    print("libpython%d.%d" % sys.version_info[:2])
END
}
if [[ "$mode" == package && "$(uname -s)" == Linux ]]; then
    mapfile -t wanted < <(missing_python_library)
    if ((${#wanted[@]})); then
        install_packages "a package carries it" "${wanted[@]}" || exit 1
    fi
fi

# The stamp holds what was installed and from where: a changed pyproject.toml or a moved checkout installs again.
stamp_of() {
    printf '%s\n' "$PWD"
    cat pyproject.toml
    [[ "$1" != package ]] || cat "$pins"
}
pins="packaging/constraints.txt"
stamp=".venv/.installed-$mode"
if [[ -f "$stamp" ]] && cmp -s "$stamp" <(stamp_of "$mode"); then
    exit 0
fi

say "installing Context Inspector and what it needs into .venv (some 300 MB, a minute or two, only now)"
extras=""
[[ "$mode" == run ]] || extras="[$mode]"
# A package is built of what is written down, and of nothing newer. For what pip itself builds with, it reads the second
# from 25.3 on, and before that the first.
[[ "$mode" != package ]] || export PIP_CONSTRAINT="$pins" PIP_BUILD_CONSTRAINT="$pins"
PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONWARNINGS=ignore \
    .venv/bin/python -m pip install -qq --no-input -e ".$extras" </dev/null ||
    fail "pip could not install the project, see above"
stamp_of "$mode" >"$stamp"
if [[ "$mode" != run ]]; then
    stamp_of run >.venv/.installed-run
fi
say "done"
