"""The conversation of a document as cards: plain data for a window, an export and the clipboard, without Qt."""
