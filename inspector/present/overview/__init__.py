"""Cards of the overview of a document, as plain data."""
