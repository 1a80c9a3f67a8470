"""Charts and figures of a run or a lane, while it goes on and afterwards.

Order: ``series`` < ``plots`` < ``chart``; ``figures`` stands apart. Only ``plots`` knows pyqtgraph, and is loaded when
a chart is first seen.
May import: the rooms below ``ui``; of ``ui`` ``widgets``, ``project`` and ``theming``.
"""
