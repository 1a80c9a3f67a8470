"""Benchmarks: ours and the baseline in one run, as ratios (docs/how-fast.md)."""
