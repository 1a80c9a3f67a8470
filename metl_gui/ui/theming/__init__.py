"""The theme: colours, palette, style sheet and the marks, for everything that paints."""
