"""The rows of the action table: what each menu, key and palette entry of the window is called and does.

``conditions`` < the tables of pages and panels < ``action_table``, which says how to add an action. All know the window
as a type alone.
"""
