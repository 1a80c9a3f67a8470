"""The Review page, on which decisions are taken: what waits, before and after, a card for each lost element.

Order: ``card`` < ``cards`` | ``new_attributes`` | ``matrix_pane`` < ``detail``, the right side; ``card_strip`` <
``version_tasks`` | ``time_zones``, and ``filter_bar`` | ``resolved_list`` < ``list``, the left side; ``page`` joins
both. The window gives it its commands (``commands``), what was settled (``resolved``), and what waits for a second
person (``second_person``). ``second_matrix`` feeds the pane from the Map page.
May import: the rooms below ``ui``; of ``ui`` ``context``, ``map``, ``block``, ``matrix`` and what these import.
"""
