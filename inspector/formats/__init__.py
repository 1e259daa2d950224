"""Kinds of traffic, one folder each: everything the program knows about a format is declared in its `FORMAT`.

`inspector.formats.table` lists the folders in the order tried; `inspector.formats.format` describes the object;
`inspector.formats.line_reading` reads a line of any format.
"""
