"""Time zones by their names in the IANA time zone database.

A schema states the zone of its local times (``time_zone``), or that they hold in no one zone (``none``). Links of the
system's own (``localtime``), which mean another zone on the next computer, and folders that count leap seconds
(``right/``) are no names.

Source: docs/reference/settings.md, "Of a schema".
"""

from __future__ import annotations

import re
import zoneinfo
from functools import cache

from metl_gui.core.trees.nodes import Schema
from metl_gui.errors import EditError, near_names

TIME_ZONE = "time_zone"
"""The setting of a schema."""

NO_ZONE = "none"
"""Its value for local times that hold in no one zone: nobody is asked for it then."""

_NAME = re.compile(r"[A-Za-z0-9_+-]{1,40}(?:/[A-Za-z0-9_+-]{1,40}){0,3}", re.ASCII)
_UNNAMED = frozenset({"localtime", "posixrules", "Factory"})
_UNNAMED_FOLDERS = ("posix/", "right/")


@cache
def time_zone_names() -> tuple[str, ...]:
    """Return every name, sorted.

    Cost: reads the first bytes of some 600 files, once.
    """
    return tuple(sorted(zoneinfo.available_timezones() - _UNNAMED))


def zone_of(schema: Schema) -> str:
    """Return the zone that a schema states, empty for none."""
    stated = schema.setting(TIME_ZONE)
    return "" if stated == NO_ZONE else stated


def check_time_zone(name: str) -> None:
    """Refuse what is neither a name that the database has nor ``none``.

    Raises:
        EditError: with near names.
    """
    if name == NO_ZONE or _is_zone(name):
        return
    hint = near_names(name, time_zone_names()) or f"Give a name such as Europe/Berlin, or UTC, or {NO_ZONE}."
    raise EditError(f"There is no time zone {name!r}.", "Names are those of the IANA time zone database.", hint)


def _is_zone(name: str) -> bool:
    if not _NAME.fullmatch(name) or name in _UNNAMED or name.startswith(_UNNAMED_FOLDERS):
        return False
    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True
