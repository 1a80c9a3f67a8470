"""History in the window: earlier states looked at, compared and published, and why something is mapped.

Order: ``production_state`` | ``earlier_state`` | ``difference`` | ``state_list`` < ``panel`` | ``time_strip`` |
``why_panel`` | ``publish_dialog`` < ``controller``.
May import: the rooms below ``ui``; of ``ui`` ``context``, ``map`` and what these import.
"""
