"""Colours, sizes, fonts, icons: how everything looks."""
