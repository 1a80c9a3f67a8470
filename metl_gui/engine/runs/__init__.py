"""What runs write and send: their folders and events, how far their tasks are, and outputs that appear at once.

``event_log`` < ``run_spec`` < ``commands``: events and commands travel as JSON between the Spark process and its
client. ``progress`` is written by tasks; ``folder_lock`` < ``staging`` make outputs visible at once. May import
``engine.kafka`` and ``engine.spark``.
"""
