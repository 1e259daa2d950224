"""The tab with the files that tool calls read or change."""
