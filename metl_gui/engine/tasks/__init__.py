"""What a task does on an executor, and what can be read of its results.

``task`` maps the records it is given, ``source_task`` reads and maps in one; ``results`` and ``error_topic``
read what runs wrote. May import what stands before it in the engine, from ``kernel`` up to ``checks``.
"""
