"""Elements into the matrix: mapping tables, the clipboard, suggestions, and questions by names."""
