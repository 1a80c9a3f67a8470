"""How many functions of ours a newcomer meets between an event and its effect, counted while it happens.

Run it with ``python -m tests.flows --help``. ``tracing`` records calls in all processes, ``windows`` and ``commands``
are the scenarios, and ``names`` holds the inner names of the program that they need.
"""
