"""Files of a document: sources, spools, capture files and their folder."""
