"""Work beside the window: threads, the worker process, and timers.

``jobs`` owns every thread and the ``worker``; ``timers`` works between two events. May import the workbench and
``core``, no other package of ``ui``.
"""
