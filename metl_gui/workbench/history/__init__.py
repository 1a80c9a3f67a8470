"""The states of a project: timeline, undo, who set what, and differences in words.

``states`` lists states and goes back and forth between them, ``blame`` builds on it; ``difference_text`` puts the
difference of two documents into words. May import what the workbench may, and no other package of the workbench.
"""
