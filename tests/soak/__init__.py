"""One hour of production with releases and kills: the program behind ``python -m tests.soak``."""
