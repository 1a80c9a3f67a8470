"""Where messages go: one writer per kind of sink."""
