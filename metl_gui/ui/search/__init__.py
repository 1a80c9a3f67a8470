"""Questions to the matrix on screen: search everywhere, reverse and forward search, version progression."""
