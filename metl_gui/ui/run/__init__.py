"""The Run page, on which a mapping is run: from where, the live chart, the counts, messages before and after.

Order: ``progress`` (what is known of a run, in words) < the parts of the page: ``setup``, ``history``, ``head``, and
the views ``overview``, ``speed``, ``details``, ``comparison``; then ``commands`` and ``page``. ``processes`` holds the
Spark process and the production runs, ``start`` leads to a run that can be started.
May import: the rooms below ``ui``; of ``ui`` ``context``, ``review``, ``history``, ``lanes``, ``kafka``, ``messages``,
``charts`` and what these import.
"""
