"""Runs as values: what is asked, what is told while they run, their reports, and the folders that they write.

``report`` < ``progress`` < ``events`` < ``event_log`` < ``run_spec`` < ``target`` < ``commands``: events and commands
travel as JSON between the Spark process and its client. ``folder_lock`` < ``staging`` make outputs visible at once. May
import ``engine.kafka``, ``engine.spark`` and ``lanes.coordination``.
"""
