"""What other loaders make of the same changes, each in the version that it was measured in."""
