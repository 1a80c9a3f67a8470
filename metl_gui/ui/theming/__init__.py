"""The theme: colours, palette, style sheet and the marks, for everything that paints.

``marks`` are painted in the colours of ``theme``. Imports nothing of ours but packaged resources.
"""
