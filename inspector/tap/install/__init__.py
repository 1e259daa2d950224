"""Adds taps to the configuration of MCP clients, and removes them (docs/tap.md, For you).

`clients` lists the files of each client, `entries` edits an entry, and `changes` plans and applies a change. Only the
changed values of a file are rewritten (`json_text`, `toml_text`): comments, line ends and everything else stay byte for
byte.
"""
