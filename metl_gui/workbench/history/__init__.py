"""The states of a project: timeline, undo, who set what, and differences in words."""
