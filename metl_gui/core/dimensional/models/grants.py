"""Grants of a table: the roles of a database that may read it."""

from __future__ import annotations

import re

from metl_gui.core.warehouse_model import Dimension, Fact, Model

PUBLIC = "public"
"""Stands for everybody."""

_READ = re.compile(r"\s*(?:select\s+to\s+)?(?P<role>\S(?:.*\S)?)\s*", re.IGNORECASE | re.DOTALL)
_OTHER = re.compile(r"\s*\w+(?:\s*,\s*\w+)*(?:\s+on\s+.*)?\s+to\s", re.IGNORECASE | re.DOTALL)
_LONGEST = 63


def role_of(grant: str) -> str | None:
    """Return the role that a grant names, ``None`` where it grants something else than to read.

    Args:
        grant: ``ROLE`` or ``select to ROLE``.
    """
    found = _READ.fullmatch(grant)
    role = found["role"] if found else ""
    if not role or not role.isprintable() or len(role.encode("utf-8", "surrogatepass")) > _LONGEST:
        return None
    return None if _OTHER.match(role) else role


def granted_roles(model: Model) -> tuple[str, ...]:
    """Return the roles that a model names, each once; nobody has to make that of everybody."""
    tables = (one for one in model.tables if isinstance(one, Dimension | Fact))
    roles = (role_of(grant) for one in tables for grant in one.grants)
    return tuple(dict.fromkeys(role for role in roles if role is not None and role.lower() != PUBLIC))
