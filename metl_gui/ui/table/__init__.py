"""The table twin of the matrix: every element as a row of a list. Qt and core values."""
