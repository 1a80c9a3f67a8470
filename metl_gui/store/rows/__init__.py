"""Rows and blobs of the trees, the matrix and the changes of the edit log."""
