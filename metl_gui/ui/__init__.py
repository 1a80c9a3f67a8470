"""The window: models, panels, views and dialogs over the workbench.

May import: `workbench`, `core` and `errors`, and, alone of all top-level packages, PySide6 and pyqtgraph. Nothing here decides what a
mapping means: every change of a project is an edit given to ``ui.project.document``, which hands it to the workbench.

Order of the packages, lowest first: ``theming``, ``jobs``, ``project``; ``widgets``; ``trees``, ``matrix``, ``charts``,
``kafka``, ``messages``, ``drop``, ``exports``, ``palette``, ``registries``, ``settings_dialogs``; ``block``, ``table``,
``lanes``, ``history``; ``map``, ``search``; ``suggest``, ``preview``, ``owners``, ``review``, ``run``; ``actions`` and
``shell``.
"""
