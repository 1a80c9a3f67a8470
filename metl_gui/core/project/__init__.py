"""What a project keeps beside its states: comments, masks, assignments, version tasks, profiles of samples.

None of it is part of a state, so undo leaves it, but for masks, which are settings of schemas and entities.
``project_data`` says all that is kept in names, so that two files can be compared and merged. ``reader_result`` is what
comes from outside to be added. May import ``core.trees``
and ``core.matrix``.
"""
