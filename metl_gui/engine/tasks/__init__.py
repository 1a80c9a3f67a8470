"""What a task does on an executor, and what can be read of error topics.

``task`` maps the records it is given and keeps samples of them, ``source_task`` reads and maps in one;
``error_topic`` reads what runs set aside. May import what stands before it in the engine, from ``kernel`` up to
``checks``.
"""
