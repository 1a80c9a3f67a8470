"""Loads of a warehouse: runs of which the messages go into a target, and what a target says of itself."""
