"""Initial load: all existing rows of chosen tables, once, through the matrix that a fast lane maps its changes with."""
