"""Exports in the window: one dialog over all formats of ``workbench.exports``."""
