"""Names of days and months in a language, for tables of days."""

from __future__ import annotations

from typing import NamedTuple

from metl_gui.errors import EditError, near_names


class CalendarNames(NamedTuple):
    """Names as a language writes them alone, outside a date.

    Args:
        months: January first.
        days: Monday first.
    """

    months: tuple[str, ...]
    days: tuple[str, ...]


def calendar_names(locale: str) -> CalendarNames:
    """Return the names of a locale, such as ``de`` or ``pt-br``.

    Raises:
        EditError: there are none.
    """
    from arrow import locales  # what opens a project needs no calendar

    try:
        found = locales.get_locale(locale)
    except ValueError as error:
        known = sorted(name for one in vars(locales).values() for name in getattr(one, "names", ()))
        hint = near_names(locale, known) or "Give a language, such as de, or a language and a country: pt-br."
        raise EditError(f"There are no names of days and months in {locale[:40]}.", hint=hint) from error
    # Both lists begin with what stands for the number 0, which no day and no month has.
    return CalendarNames(tuple(found.month_names[1:]), tuple(found.day_names[1:]))
