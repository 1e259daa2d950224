#!/usr/bin/env bash
# Tries the Debian package on a clean system: `make package-test` runs it, as root. In a bare Debian of its own, made
# with debootstrap below build/package-test:
#
#   1. with nothing but the package and what it depends on: nothing it is linked to is missing, every command answers,
#      it draws;
#   2. with a desktop's parts: a capture is opened by its file type, the window is driven over the bus of screen
#      readers, a second start hands it a document with sub-sessions, and pictures are taken (build/package-test/*.png);
#   3. removed, nothing is left but what the user made.
#
#   packaging/test_package.sh [DEB]
#
# Downloads are kept below build/package-test for the next time. SUITE and MIRROR choose another Debian.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

suite="${SUITE:-bookworm}"
mirror="${MIRROR:-http://deb.debian.org/debian}"
place="$PWD/build/package-test"
base="$place/base-$suite"
root="$place/root"
user=ada

say() { echo "package-test: $*"; }
fail() { echo "package-test: $*" >&2; exit 1; }

[[ "$(id -u)" == 0 ]] || fail "this needs root, for a root folder of its own; type: sudo make package-test"
command -v debootstrap >/dev/null || fail "debootstrap is missing; type: apt-get install debootstrap"

shopt -s nullglob
built=(dist/context-inspector_*.deb)
package="${1:-${built[-1]:-}}"
[[ -f "$package" ]] || fail "there is no package; type: make package"

# Mounts of this namespace end with it, whatever happens.
if [[ -z "${IN_NAMESPACE:-}" ]]; then
    IN_NAMESPACE=1 exec unshare --mount --pid --fork --kill-child --propagation private "$0" "$package"
fi

inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
user_of=(setpriv --reuid "$user" --regid "$user" --init-groups env HOME="/home/$user")
as_user() { inside "${user_of[@]}" "$@"; }
# Displays have abstract sockets, which are one a network: another :77 of this machine would be in the way.
as_user_alone() { inside unshare --net "${user_of[@]}" "$@"; }
install() {
    inside apt-get -qq -y --no-install-recommends install "$@" >"$place/apt.log" 2>&1 && return
    tail -n 20 "$place/apt.log" >&2
    fail "apt could not install $*"
}
# All files but what changes with every use of apt, and what users make.
files() {
    local skipped=() one
    for one in proc sys dev tmp run home var/lib/dpkg var/lib/apt var/cache var/log; do
        skipped+=(-path "./$one" -o)
    done
    (cd "$root" && find . -xdev \( "${skipped[@]}" -name __pycache__ \) -prune -o -print | LC_ALL=C sort)
}

# ---- a clean system -------------------------------------------------------------------------------------------------

if [[ ! -f "$base/.complete" ]]; then
    say "making a bare $suite, only now"
    rm -rf "$base"
    mkdir -p "$base"
    debootstrap --variant=minbase --include=ca-certificates "$suite" "$base" "$mirror" >"$place/debootstrap.log" ||
        { tail -n 5 "$place/debootstrap.log" >&2; fail "debootstrap could not make it"; }
    touch "$base/.complete"
fi
rm -rf "$root"
cp -a "$base" "$root"
mkdir -p "$place/archives/partial"
mount --bind "$place/archives" "$root/var/cache/apt/archives"
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
mkdir "$root/dev/shm" "$root/dev/pts"
mount -t devpts devpts "$root/dev/pts"
for node in null:3 zero:5 full:7 random:8 urandom:9; do
    mknod -m 666 "$root/dev/${node%:*}" c 1 "${node#*:}"
done
ln -s /proc/self/fd "$root/dev/fd"
mount -t tmpfs tmpfs "$root/tmp"
chmod 1777 "$root/tmp" "$root/dev/shm"
cp /etc/resolv.conf "$root/etc/resolv.conf"
printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"  # no services are started
chmod 755 "$root/usr/sbin/policy-rc.d"
echo 'Binary::apt-get::APT::Keep-Downloaded-Packages "true";' >"$root/etc/apt/apt.conf.d/90keep"
inside apt-get -qq update
inside useradd --create-home "$user"
cp "$package" "$root/tmp/package.deb"
cp docs/examples/robot_log.py "$root/tmp"
cp tests/data/captures/demo-round.ctxcap "$root/home/$user/a round.ctxcap"
cp tests/data/msp/weekly-report.json "$root/home/$user/"
inside chown "$user:" "/home/$user/a round.ctxcap" "/home/$user/weekly-report.json"

# ---- the package alone ----------------------------------------------------------------------------------------------

files >"$place/before.txt"
install /tmp/package.deb
say "installed with $(inside dpkg-query -f '.\n' -W | wc -l) packages in all, $(du -sk "$root/usr/lib/context-inspector" | cut -f1) kB of its own"

home=/usr/lib/context-inspector
inside find "$home" -name '*.so*' -type f -exec env "LD_LIBRARY_PATH=$home/_internal" ldd {} \; >"$place/linked.txt" 2>&1 || true
# Libraries next to their users have no path in ldd's eyes unless it is told of their folders.
missing="$(grep 'not found' "$place/linked.txt" | sort -u | awk '{print $1}' |
    while read -r name; do inside find "$home" -name "$name" | grep -q . || echo "$name"; done || true)"
[[ -z "$missing" ]] || fail "linked to and not there: ${missing//$'\n'/ }"

answers() {
    as_user context-inspector "$@" >"$place/said.txt" 2>&1 || fail "it failed, see build/package-test/said.txt"
    ! grep -q Traceback "$place/said.txt" || fail "it failed, see build/package-test/said.txt"
    head -n 1 "$place/said.txt"
}
answers --version
# Each command lies in a module of its own that is imported by its name.
as_user context-inspector --help >"$place/said.txt"
mapfile -t commands < <(sed -nE 's/^│ ([a-z][a-z-]+) .*/\1/p' "$place/said.txt")
((${#commands[@]} > 10)) || fail "it named no commands, see build/package-test/said.txt"
for command in window "${commands[@]}"; do
    answers "$command" --help >/dev/null
done
answers explain-filter 'kind == "chat"' >/dev/null
for command in list contexts participants check; do
    answers "$command" "/home/$user/a round.ctxcap" >/dev/null
done
answers summary "/home/$user/a round.ctxcap" --tokens >/dev/null
answers screenshot "/home/$user/a round.ctxcap" -o "/home/$user/alone.png" --panel Tokens
cp "$root/home/$user/alone.png" "$place/alone.png"
said="$(answers merged-context "/home/$user/weekly-report.json" --subsession units)"
[[ "$said" == "units: 285 tokens in 13 messages."* ]] || fail "merged-context said: $said"
say "without a desktop it answers and draws: build/package-test/alone.png"

# Each process that it starts of itself. Arguments in /proc are separated by NUL.
runs() { grep -lsxz -- "$1" "$root"/proc/[0-9]*/cmdline >/dev/null; }
starts() {
    local program="$1" process _
    shift
    for process in "$@"; do
        for _ in {1..60}; do
            runs "$process" && break
            kill -0 "$program" 2>/dev/null || fail "it ended without $process, see build/package-test/said.txt"
            sleep 0.5
        done
        runs "$process" || fail "it started no $process"
    done
    wait "$program" || fail "it failed, see build/package-test/said.txt"
}
as_user context-inspector demo --seconds 40 >"$place/said.txt" 2>&1 &
starts $! '[e]ngine' '[r]ecorder'
for _ in {1..150}; do cat tests/data/recordings/mew/coding-agent/envelope-history.jsonl; done >"$root/home/$user/long.jsonl"
as_user context-inspector summary "/home/$user/long.jsonl" --tokens >"$place/said.txt" 2>&1 &
starts $! '[-]-multiprocessing-fork'
request='{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},'
request+='"clientInfo":{"name":"test","version":"1"}}}'
said="$(as_user context-inspector tap -o "/home/$user/tapped.ctxcap" -- context-inspector mcp <<<"$request")"
[[ "$said" == *serverInfo* ]] || fail "the MCP server behind a tap said: $said"
[[ "$(answers list "/home/$user/tapped.ctxcap" --format jsonl)" == *mcp/request* ]] || fail "the tap recorded no request"
said="$(as_user context-inspector tap --model -o "/home/$user/model.ctxcap" -- env 2>/dev/null)"
[[ "$said" == *ANTHROPIC_BASE_URL=* && -f "$root/home/$user/model.ctxcap" ]] || fail "the tap of a model said: $said"
[[ "$said" != *"$home"* ]] || fail "programs behind a tap get libraries of the package: $said"
inside install -D --owner "$user" --group "$user" -t "/home/$user/.config/context-inspector/plugins" /tmp/robot_log.py
inside chown -R "$user:" "/home/$user/.config"
said="$(answers plugins enable robot_log)"
[[ "$said" == "robot_log is on."* ]] || fail "plugins enable said: $said"
inside rm -r "/home/$user/.config/context-inspector" "/home/$user/long.jsonl"
say "it starts engine, recorder, workers, tap, MCP server, and plug-ins"
inside apt-get -qq -y purge --autoremove context-inspector >/dev/null 2>&1
files >"$place/after.txt"
left="$(comm -13 "$place/before.txt" "$place/after.txt")"
[[ -z "$left" ]] || fail "left behind: $left"

# ---- on a desktop ---------------------------------------------------------------------------------------------------

install xvfb xauth dbus at-spi2-core python3-gi xdg-utils desktop-file-utils shared-mime-info libglib2.0-bin libx11-6 \
    libxtst6 procps
files >"$place/before.txt"
install /tmp/package.deb
mkdir "$root/tmp/test"
cp packaging/drive_package.py tests/e2e/{atspi,x_focus,screen_reader}.py "$root/tmp/test"
# The display is made by the driver; what the bus starts must know of it from the beginning.
as_user_alone DISPLAY=:77 dbus-run-session -- /usr/bin/python3 /tmp/test/drive_package.py \
    "/home/$user/a round.ctxcap" "/home/$user/weekly-report.json" || fail "the window could not be driven, see above"
for picture in window sub-sessions; do
    "${PYTHON:-.venv/bin/python}" packaging/screen_picture.py "$root/tmp/$picture.xwd" "$place/$picture.png"
done
if grep -rh " ERROR " "$root/home/$user/.local/state"; then fail "the program logged errors, see above"; fi
say "driven over the bus of screen readers: build/package-test/window.png, sub-sessions.png"

inside apt-get -qq -y purge --autoremove context-inspector >/dev/null 2>&1
files >"$place/after.txt"
left="$(comm -13 "$place/before.txt" "$place/after.txt")"
[[ -z "$left" ]] || fail "left behind: $left"
! grep -rlE 'ctxcap|context-inspector' "$root/usr/share/mime" "$root/usr/share/applications" "$root/etc" 2>/dev/null ||
    fail "the desktop still knows of it"
say "removed; the user keeps:"
(cd "$root/home/$user" && find . -type f -newer "$root/tmp/package.deb" -printf '  ~/%P (%m)\n' | sort)
umount -l "$root/tmp" "$root/dev/pts" "$root/dev" "$root/sys" "$root/proc" "$root/var/cache/apt/archives"
rm -rf --one-file-system "$root"
say "passed"
