"""What the disk image for macOS looks like; `sign.sh` gives it to dmgbuild with `-D app=PATH`."""

from pathlib import Path

application = defines.get("app", "build/package/dist/Context Inspector.app")  # noqa: F821  # pyright: ignore
_name = Path(application).name

format = "ULFO"
filesystem = "APFS"
files = [application]
symlinks = {"Applications": "/Applications"}
icon = "build/package/icon.icns"
icon_locations = {_name: (140, 120), "Applications": (400, 120)}
window_rect = ((200, 200), (540, 320))
default_view = "icon-view"
icon_size = 96
text_size = 13
show_status_bar = show_tab_view = show_toolbar = show_pathbar = show_sidebar = False
