"""The fuzzer of the kernels: hostile records by the million, which both kernels must make the same of.

Run it with ``python -m tests.fuzz --help``. A small run with fixed seeds is part of the tests of the engine. Everything
is drawn from one seed, so that a round is the same whenever its number is.

``values``, ``plans`` and ``records`` write what connectors could send and more; ``samples`` reads what they did send;
``mutations`` breaks it; ``collisions`` finds names that the tables of the compiled kernel mix up; ``rounds`` maps it by
both kernels; ``differences`` compares; ``minimise`` makes a difference small enough to be understood.
"""
