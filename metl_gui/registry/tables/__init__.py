"""The mapping as a table of text or of a workbook, and any text in the cells of spreadsheets."""
