"""Elements into the matrix: mapping tables, the clipboard, suggestions, and questions by names.

``clipboard`` builds on ``table``, ``acceptance`` on ``suggestions``. May import what the workbench may, and of the
workbench ``exports`` for the cells of tables.
"""
