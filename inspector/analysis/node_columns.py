"""Values of context nodes as tables and arrays that follow the tree's growth without being made anew."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.context_tree import MAIN, ContextTree


class NodeTable(Sequence[str]):
    """Texts of nodes by node + 1, made when asked for; entry 0 stands for the main context.

    An entry changes only when the tree's `moves` do.
    """

    def __init__(self, tree: ContextTree, text: Callable[[int], str]) -> None:
        self._tree = tree
        self._text = text

    def __len__(self) -> int:
        return len(self._tree) + 1

    def __getitem__(self, entry):  # type: ignore[override]  # slices are not served: nobody takes them
        return self._text(entry - 1) if entry > 0 else ""


class NodeNumbers:
    """A number per node, extended as nodes appear and made anew when `generation` changes. O(nodes) to make.

    The array has one entry more than there are nodes: the last, reached by index -1, is the main context's.

    Args:
        number: a node's number, from the node and the number of its parent, which is made before.
        main: the main context's number, which roots see as their parent's.
    """

    def __init__(self, tree: ContextTree, number: Callable[[int, int], int], main: int = 0) -> None:
        self._tree = tree
        self._number = number
        self._main = main
        self._generation = -1
        self._values: list[int] = []
        self._array = np.full(1, main, np.int32)

    def __len__(self) -> int:
        """Nodes that have a number; one is made when it is first asked for."""
        return len(self._values)

    def values(self, generation: int) -> NDArray[np.int32]:
        """(nodes + 1,) int32; merged nodes have the value of what they became."""
        if generation != self._generation:
            self._generation, self._values = generation, []
        if len(self._values) != len(self._tree) or len(self._array) != len(self._tree) + 1:
            self._extend()
            self._array = np.array([*self._values, self._main], np.int32)
        return self._array

    def _extend(self) -> None:
        """Make the numbers that are missing, those of parents first, which after moves may come later."""
        tree, known = self._tree, len(self._values)
        made: dict[int, int] = {}
        for node in range(known, len(tree)):
            line: list[int] = []
            step = tree.resolve(node)
            while step >= known and step not in made:
                line.append(step)
                step = tree.parent[step]
            value = self._main if step == MAIN else made[step] if step >= known else self._values[step]
            for step in reversed(line):
                value = made[step] = self._number(step, value)
            made.setdefault(node, value)
        self._values.extend(made[node] for node in range(known, len(tree)))
