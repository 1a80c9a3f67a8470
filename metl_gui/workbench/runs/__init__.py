"""Mapping runs: test and production runs, replays, their history, topics and fill rates."""
