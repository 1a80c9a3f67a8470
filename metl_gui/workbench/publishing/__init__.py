"""Publishing a state: its checks, what it would mean for production, and the publication.

``publication`` builds on ``checks``. May import what the workbench may, and of the workbench ``history``,
``importing``, ``review`` and ``samples``.
"""
