"""Files dropped on the window or pasted: what they are, and a dry run of them.

``controller`` joins ``sheet`` and ``dry_run`` with the window. Of ``ui`` it may import
``importing``, ``context`` and what these may.
"""
