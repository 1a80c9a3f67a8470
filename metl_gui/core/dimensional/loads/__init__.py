"""What loads are asked for and tell: when one is due, what was staged, how far a source was read, what it did."""
