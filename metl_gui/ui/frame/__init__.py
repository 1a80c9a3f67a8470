"""What stands around the pages: the head bar, the status bar, and the start page while no project is open.

Widgets that show what they are given and tell what was pressed. Of ``ui`` it may import ``jobs``, ``project``,
``theming`` and ``widgets``.
"""
