"""The window: models, panels, views and dialogs over the workbench.

May import: everything below it and, alone of all rooms, PySide6 and pyqtgraph. Nothing here decides what a mapping
means: every change of a project is an edit given to ``project.document``, which hands it to the workbench.
"""
