"""The sources of a document: how each stands, what it holds, its clock; one more or one fewer."""
