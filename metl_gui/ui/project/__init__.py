"""The open project as the window holds it: document, selection, view settings, and how it is put into words."""
