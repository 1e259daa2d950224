"""Heights of rows that are laid out as they come into sight."""

from __future__ import annotations

import numpy as np

from inspector.ui.widgets.variable_height_view import Heights


def test_heights_are_summed_as_they_are_found() -> None:
    heights = Heights()
    heights.reset_to(np.full(4, 10, np.int64))
    assert [heights.top(row) for row in range(5)] == [0, 10, 20, 30, 40]
    assert not heights.set_exact([1], [10])
    assert heights.set_exact([2], [25])
    assert heights.total == 55
    assert [heights.row_at(y) for y in (-5, 0, 19, 20, 44, 45, 900)] == [0, 0, 1, 2, 2, 3, 3]
    heights.insert(4, np.array([7]))
    assert (heights.total, len(heights), heights.exact.tolist()) == (62, 5, [False, True, True, False, False])
