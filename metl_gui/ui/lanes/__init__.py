"""A lane while it goes on: figures by partition, who takes part in its state, what a person may order it.

Order: ``progress`` and ``orders`` < ``panel``, the dashboard; ``load_dialog`` stands apart.
May import: the rooms below ``ui``; of ``ui`` ``charts``, ``widgets``, ``jobs``, ``project`` and ``theming``.
"""
