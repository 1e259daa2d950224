"""Look of the window: colours, sizes, fonts, icons and painting helpers."""
