"""The plane: axes, order, indexes, counts and densities of what stands on it. No painting."""
