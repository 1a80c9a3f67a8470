"""Which types can be read as which others without loss.

Source: dmm.md §7.3 (widening is compatible, int to string is not).
"""

from __future__ import annotations

from metl_gui.core.nodes import Attribute

_WIDER: dict[str, tuple[str, ...]] = {
    "int8": ("int16", "int32", "int64", "integer", "number", "float", "double"),
    "int16": ("int32", "int64", "integer", "number", "float", "double"),
    "int32": ("int64", "integer", "number", "double"),
    "int64": ("integer", "number"),
    "integer": ("number",),
    "float": ("double", "number"),
    "double": ("number",),
}
_OPEN = ("any", "union", "unknown", "null")


def is_widening(before: Attribute, after: Attribute) -> bool:
    """Whether every value of ``before`` can be read as a value of ``after``.

    The same type is; a type that is open or not known on either side is; a decimal may not lose scale.
    """
    if before.type in _OPEN or after.type in _OPEN:
        return True
    if before.type != after.type:
        return after.type in _WIDER.get(before.type, ()) and (before.logical == after.logical or not before.logical)
    if before.logical != after.logical:
        return False
    return before.scale is None or after.scale is None or after.scale >= before.scale
