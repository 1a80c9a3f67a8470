"""The compiled kernel: machine code, made by numba, that maps what the reference has taught it."""
