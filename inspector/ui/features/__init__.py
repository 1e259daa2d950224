"""Features of a document window, one module per feature."""
