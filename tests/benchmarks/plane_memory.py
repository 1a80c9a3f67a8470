"""What a laid out plane holds in memory, by part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import is_dataclass

import numpy as np

from metl_gui.core.trees.trees import Tree, TreeBase
from metl_gui.ui.matrix.layout.content import PlaneContent
from metl_gui.values import Value

_ELSEWHERE = (Tree, TreeBase)
"""Parts of the document, which are there without a plane."""


def plane_memory(content: PlaneContent) -> dict[str, int]:
    """Return bytes by part.

    Returns:
        ``matrix``: the columns of the matrix with the core's indexes; ``index``: blocks by place; ``axes``: both axes,
        without the trees; ``pyramid``: numbers of coarse levels, kept densities
        and facts; ``edited``: what was edited since.
    """
    facts = sum(known.size_bytes for known in content.known_facts.values())
    return {
        "matrix": content.index.base.size_bytes,
        "index": content.index.size_bytes,
        "axes": _size({"columns": content.columns, "rows": content.rows}),
        "pyramid": content.pyramid.size_bytes + content.whole_planes.size_bytes + facts,
        "edited": content.edited.size_bytes,
    }


def _size(value: object) -> int:
    """Add up the arrays that are reached from a value, each once."""
    return sum({id(array): array.nbytes for array in _arrays(value)}.values())


def _arrays(value: object) -> Iterator[np.ndarray[tuple[int, ...], np.dtype[np.generic]]]:
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _arrays(part)
    elif isinstance(value, _ELSEWHERE):
        return
    elif isinstance(value, Value):
        for name in value.__struct_fields__:
            yield from _arrays(getattr(value, name))
        yield from _arrays(getattr(value, "__dict__", {}))  # what cached properties hold
    elif is_dataclass(value):
        yield from _arrays(vars(value))
