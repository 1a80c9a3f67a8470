"""The page on which mapping is done: both trees, the matrix, the block panel."""
