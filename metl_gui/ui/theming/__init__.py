"""The theme: colours, palette, style sheet and the marks, for everything that paints.

``marks`` are painted in the colours of ``theme``; ``controller`` chooses one as the settings of ``project`` say, of
which alone of ``ui`` it may know, and ``dresser`` puts it on every widget, on what is seen first.
"""
