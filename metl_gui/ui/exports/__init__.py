"""The export dialog, over all formats of the workbench."""
