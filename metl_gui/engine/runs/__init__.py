"""Runs as values: what is asked, what is told while they run, their reports, and the folders that they write."""
