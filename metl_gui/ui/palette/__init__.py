"""The command palette: whatever makes sense now, found by a few letters."""
