"""What checks find: a problem with its severity, a code, a place, a sentence and a way out."""

from __future__ import annotations

from enum import StrEnum

from metl_gui.values import Value


class Severity(StrEnum):
    """How bad a problem is."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Problem(Value):
    """Something that a check found.

    Args:
        severity: see ``Severity``.
        code: dotted code.
        place: block or node, by names; the newest one where it holds for several versions.
        message: what is wrong.
        hint: what to do.
        versions: labels of the schema versions it holds for, oldest first; empty where it is not about versions.
    """

    severity: Severity
    code: str
    place: str
    message: str
    hint: str
    versions: tuple[str, ...] = ()
