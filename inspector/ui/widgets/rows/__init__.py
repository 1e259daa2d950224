"""Lists of rows: model, delegate, view and headings over the specifications of `present/rows.py`."""
