"""The sheet of keys: what has keys, by menu."""

from __future__ import annotations

from collections.abc import Iterable

from metl_gui.ui.actions import MENUS, ActionRow


def sheet(rows: Iterable[ActionRow]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return per menu the (keys, text) of what has keys."""
    found: dict[str, list[tuple[str, str]]] = {menu: [] for menu in MENUS}
    for row in rows:
        if row.shortcut:
            found[row.menu.partition(" > ")[0]].append((row.shortcut, row.words))
    return [(menu, lines) for menu, lines in found.items() if lines]
