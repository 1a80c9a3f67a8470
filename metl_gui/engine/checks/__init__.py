"""What is refused of a run before it starts: shared destinations, topics, runs that read what they write.

May import ``engine.runs``, ``sinks``, ``sources``, ``kafka`` and ``kernel``.
"""
