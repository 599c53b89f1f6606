"""What docs/semantics.md says of an answer, held against what the real broker answered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .compare import NOTHING, Difference
from .trees import Tree


def contradictions(tree: Tree, says: Mapping[str, Any]) -> Iterator[Difference]:
    """A difference for each path whose value in the real broker's answer is not what is said."""
    for path, value in says.items():
        found = _at(tree, path)
        if found != value:
            yield Difference(path, found, f"said to be {value!r}")


def _at(tree: Tree, path: str) -> Any:
    """The value at a path like "topics.0.name"."""
    for part in path.split("."):
        if isinstance(tree, list) and part.isdigit() and int(part) < len(tree):
            tree = tree[int(part)]
        elif isinstance(tree, dict) and part in tree:
            tree = tree[part]
        else:
            return NOTHING
    return tree
