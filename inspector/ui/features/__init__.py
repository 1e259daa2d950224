"""What the window can do with documents, one module a feature."""
