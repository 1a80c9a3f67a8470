"""Where messages go: one writer per kind of sink.

``jsonl``, ``parquet`` and ``topic_sink`` write what ``sink.Sink`` asks for. For Parquet, machine code cuts messages
into values (``patterns``, ``cutting``), readers make columns of them. Runs on executors. May import ``engine.kernel``,
``engine.kafka``, ``engine.spark`` and ``formats``.
"""
