"""The open project as the window holds it: document, selection, view settings, and how it is put into words.

Every edit of the window goes through ``document``. May import the workbench and ``core``, no other package of ``ui``.
"""
