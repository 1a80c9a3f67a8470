"""What runs write and send: their folders and events, how far their tasks are, and outputs that appear at once.

``event_log`` < ``run_folder`` is what a run leaves; ``commands`` travel as JSON to the Spark process, events back.
``progress`` is written by tasks; ``folder_lock`` < ``staged_outputs`` make outputs visible at once. May import
``engine.kafka`` and ``engine.spark``.
"""
