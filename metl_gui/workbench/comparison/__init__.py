"""Projects, states and exports compared, and merged three-way.

``diff`` opens two sides to read; ``merge`` builds on it. May import what the workbench may, and of the workbench
``history``, ``publishing``, ``exports`` and ``samples``.
"""
