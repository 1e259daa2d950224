"""The start page of a window without a document."""
