"""What waits for a person: review items, rename proposals, choices, and who is to decide.

``items`` reads the review list off the blocks; ``query``, ``feeders``, ``assignees``, ``settled`` and ``dry_run`` build
on it, ``loss_choices`` on ``rename_proposals``. ``missing_time_zones`` reads off whole columns what typed sinks miss.
May import ``core.trees``, ``matrix``, ``project``, ``changes`` and ``suggest``.
"""
