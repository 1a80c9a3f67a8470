"""Mapping by a state of the matrix: plans, the kernel that maps batches, previews of single records."""
