#!/usr/bin/env bash
# Signs the .app inside out with the hardened runtime, makes the disk image, and has Apple notarise it.
# Without MACOS_IDENTITY the app stays as PyInstaller signed it (ad hoc), and without NOTARY_* nothing is sent.
#
#   MACOS_IDENTITY="Developer ID Application: ..." NOTARY_APPLE_ID=... NOTARY_TEAM_ID=... NOTARY_PASSWORD=... \
#       packaging/macos/sign.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

app="build/package/dist/Context Inspector.app"
version="$(python3 packaging/version.py)"
image="dist/context-inspector-$version-macos-$(uname -m).dmg"
mkdir -p dist

fail() { echo "sign: $*" >&2; exit 1; }
# A value of what notarytool answered.
in_answer() {
    python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1" <<<"$answer" 2>/dev/null ||
        fail "the answer of notarytool, above, has no $1"
}

if [[ -n "${MACOS_IDENTITY:-}" ]]; then
    # Libraries have the entitlements of the program that loads them, which is signed with the app.
    find "$app/Contents/Frameworks" -type f \( -name '*.dylib' -o -name '*.so' -o -perm -u+x \) -print0 |
        xargs -0 -n 50 codesign --force --timestamp --options runtime --sign "$MACOS_IDENTITY"
    codesign --force --timestamp --options runtime --sign "$MACOS_IDENTITY" \
        --entitlements packaging/macos/entitlements.plist "$app"
    codesign --verify --deep --strict "$app"
else
    echo "MACOS_IDENTITY is not set: the app is not signed"
fi

# Who makes the image need not know the keys.
env -u NOTARY_APPLE_ID -u NOTARY_TEAM_ID -u NOTARY_PASSWORD python3 -m dmgbuild -s packaging/macos/dmg_settings.py -D "app=$app" "Context Inspector" "$image"

if [[ -n "${MACOS_IDENTITY:-}" && -n "${NOTARY_PASSWORD:-}" ]]; then
    codesign --force --timestamp --sign "$MACOS_IDENTITY" "$image"
    keys=(--apple-id "$NOTARY_APPLE_ID" --team-id "$NOTARY_TEAM_ID" --password "$NOTARY_PASSWORD")
    answer="$(xcrun notarytool submit "$image" --wait --output-format json "${keys[@]}")" ||
        fail "notarytool could not send $image: $answer"
    echo "$answer"
    # notarytool ends with 0 whatever Apple decided; stapler would only say that there is no ticket.
    id="$(in_answer id)"
    status="$(in_answer status)"
    if [[ "$status" != Accepted ]]; then
        xcrun notarytool log "$id" "${keys[@]}" >&2 || true
        fail "Apple did not notarise $image, its answer is: $status. Why is in its log, above; to read that again:" \
            "xcrun notarytool log $id --apple-id $NOTARY_APPLE_ID --team-id $NOTARY_TEAM_ID"
    fi
    xcrun stapler staple "$image"
else
    echo "no keys for notarisation: the image is not notarised"
fi
echo "$image"
