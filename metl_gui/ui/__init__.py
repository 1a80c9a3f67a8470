"""The window: models, panels, views and dialogs over the workbench.

May import: `workbench`, `core` and `errors`, and, alone of all top-level packages, PySide6 and pyqtgraph. Nothing here
decides what a mapping means: every change of a project is an edit given to ``ui.project.document``, which hands it to
the workbench.

Order of the packages, lowest first: ``jobs``, ``project``; ``theming``; ``widgets``; ``trees``, ``matrix``, ``charts``,
``kafka``, ``messages``, ``settings_dialogs``, ``actions``; ``block``, ``table``, ``lanes``, ``context``; ``map``,
``search``, ``importing``, ``exports``, ``palette``, ``frame``; ``preview``, ``suggest``, ``owners``, ``history``,
``review``, ``drop``, ``registries``; ``run``; ``shell``. No two know each other in a circle; pages and controllers take
the context, and never know the shell.
"""
