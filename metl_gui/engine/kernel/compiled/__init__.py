"""The compiled kernel: machine code, made by numba, that maps what the reference has taught it.

``memory`` and ``instructions`` are what machine code is made of, ``layout`` and ``tables`` what it shares with Python;
it goes through ``object_scan``, ``program_selection`` and ``message_writer``, for Avro through ``avro`` first.
``matching`` knows messages that were written. ``driver`` leads it over a batch, ``learner`` asks the reference,
``build`` has it compiled and kept. May import ``engine.kernel``, what that may import, and ``own_files``.
"""
