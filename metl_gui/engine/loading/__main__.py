"""Reads rows in a process of its own: ``python -m metl_gui.engine.loading FOLDER``, see ``staging``."""

from metl_gui.engine.loading.staging import main

main()
