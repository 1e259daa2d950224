"""The display filter language of docs/design.md 6: text to expression to mask.

`parse` reads text (grammar in `grammar`, nodes in `ast`), `compile_filter` also checks it against the declared fields
and gives a `DisplayFilter`, whose `mask` chooses messages. Operators are declared in `operators`. Whatever the text,
the only exception is `FilterError`.
"""

from inspector.filters.ast import Expression
from inspector.filters.compile import DisplayFilter, compile_filter
from inspector.filters.errors import FilterError
from inspector.filters.explain import explain
from inspector.filters.parse import parse

__all__ = ["DisplayFilter", "Expression", "FilterError", "compile_filter", "explain", "parse"]
