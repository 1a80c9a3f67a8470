"""Actions from rows: the row itself, keys, menus and the shortcut sheet.

In order: ``table``, ``keymap``, then ``menus`` and ``shortcut_sheet``. Nothing here knows what the actions do: the rows
stand in the shell. Of ``ui`` it may import ``theming``, ``project`` and ``widgets``.
"""
