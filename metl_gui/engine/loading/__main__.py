"""Reads rows in a process of its own: ``python -m metl_gui.engine.loading FOLDER``, see ``staged_rows``."""

from metl_gui.engine.loading.staged_rows import main

main()
