"""What stands around the pages: the head bar, the status bar, and the start page while no project is open.

Widgets that show what they are given and tell what was pressed. Of ``ui`` it may import ``context`` for the
names of the pages, and what that may, ``theming`` and ``widgets``.
"""
