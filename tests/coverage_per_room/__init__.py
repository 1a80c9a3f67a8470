"""How much of each room the tests run, in all processes that they start.

Run it with ``python -m tests.coverage_per_room --help``.
"""
