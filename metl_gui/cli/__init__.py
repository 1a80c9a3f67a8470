"""`metl`: arguments in, workbench calls, text or JSON out.

May import `workbench` and what lies below it, never `ui`. `main` is the program; each other module that registers
commands holds one group of them. A command's module is loaded for every call of `metl`, so it imports the workbench
inside the functions that run: `metl --help` must load neither Qt nor Spark nor numpy.
"""
