"""The display filter language: parses, checks and compiles filter text to masks (docs/design.md 6).

`parse` reads text with the grammar of `grammar` into the nodes of `ast`. `compile_filter` also checks it against the
declared fields and returns a `DisplayFilter`, whose `mask` selects messages. Masks, SQL conditions and outlines read
its one checked tree, `root`. `operators` declares the operators. `FilterError` is the only exception that a text can
cause.
"""

from inspector.filters.ast import Expression
from inspector.filters.compile import DisplayFilter, compile_filter
from inspector.filters.errors import FilterError
from inspector.filters.explain import explain
from inspector.filters.parse import parse

__all__ = ["DisplayFilter", "Expression", "FilterError", "compile_filter", "explain", "parse"]
