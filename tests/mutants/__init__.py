"""Whether the tests notice that the code is wrong: small faults are put into it, and the tests of their lines are run.

Run it with ``python -m tests.mutants --help``. ``mutations`` finds what can be changed, ``covering`` knows which tests
run a line, ``scratch`` is a copy of the project to try one mutant at a time in, ``trials`` says what came of each.
``mutated_import``, ``first_failure`` and ``forked_pytest`` are copied there.
"""
