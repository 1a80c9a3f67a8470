"""The compiled kernel: machine code, made by numba, that maps what the reference has taught it.

``memory`` and ``instructions`` are what machine code is made of, ``layout`` and ``tables`` what it shares with Python;
it goes through ``scanning``, ``matching`` and ``writing``, for Avro through ``avro_text`` first. ``driver`` leads it
over a batch, ``learning`` asks the reference, ``build`` has it compiled and kept. May import ``engine.kernel``, what
that may import, and ``own_files``.
"""
