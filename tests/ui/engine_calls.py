"""A request that calls a function of a test with the document in its engine."""

from __future__ import annotations

import pickle
import traceback

import cloudpickle

from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request
from inspector.engine.requests.table import QUERY_BY_TYPE


class Call(Request[bytes], frozen=True):
    """The pickled value of a function, or the trace of its error.

    Attributes:
        pickled: the function, and its arguments after the document.
    """

    pickled: bytes


def _call(held: OpenDocument, asked: Call) -> bytes:
    function, arguments = pickle.loads(asked.pickled)
    try:
        return cloudpickle.dumps((function(held.document, *arguments), ""))
    except Exception:  # noqa: BLE001 - raised in the test
        return cloudpickle.dumps((None, traceback.format_exc()))


QUERY_BY_TYPE[Call] = Query(Call, bytes, _call)
