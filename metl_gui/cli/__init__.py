"""`metl`: arguments in, workbench calls, text or JSON out.

May import `workbench`, `core` and `errors` alone. `main` is the program, `commands` and `output` are what all
commands share; each other module holds the commands of one subject. A command's module is loaded for every call of
`metl`, so it imports the workbench inside the functions that run: `metl --help` must load neither Qt nor Spark nor
numpy.
"""
