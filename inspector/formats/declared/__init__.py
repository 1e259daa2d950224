"""Declared formats: TOML files that describe a log, in place of a reader (docs/declared-formats.md).

`declaration` is the model of a file and finds its faults, `events` makes the rows of a record, `format_maker` makes the
`Format`, and `folder` reads the files of the user.
"""
