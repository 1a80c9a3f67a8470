"""What mouse and keyboard mean on the plane: hit tests, gestures, cursor, and what a selection holds."""
