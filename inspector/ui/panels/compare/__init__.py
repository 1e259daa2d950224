"""Comparison of a document with another run: the answer, two aligned lanes, contexts and figures."""
