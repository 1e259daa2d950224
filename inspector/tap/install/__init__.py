"""Putting a tap into the configuration of an MCP client, and taking it out again (docs/tap.md, For you).

`clients` knows where clients keep their servers, `entries` how an entry with a tap looks, `changes` plans and makes a
change. Of a file only the values that change are written anew (`json_text`, `toml_text`): comments, line ends and
whatever else stands there stay as they are, byte for byte.
"""
