"""The mapping as a table of text or of a workbook, and any text in the cells of spreadsheets.

``cells`` < ``workbook`` < ``mapping_table``. May import ``registry``'s own modules and ``core``, and lazily openpyxl.
"""
