"""The one table of actions, with their keys; menus and the shortcut sheet are built from it.

In order: ``conditions``, ``table`` (which says how to add an action), the rows of the pages, ``keymap``, then ``menus``
and ``shortcut_sheet``. Rows call methods of the window. Of ``ui`` it may import ``theming``, ``project``, ``widgets``,
what rows choose from (``lanes``, ``matrix``, ``review``), and ``shell.layout`` and ``shell.picture_export``.
"""
