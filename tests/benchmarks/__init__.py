"""Benchmarks: ours and the baseline in one run, as ratios (contract.md §6)."""
