"""Turns analysis results into words and plain data for the window and the command line; no Qt.

`Subject` is the message of a page. Modules `..._facts` make its rows (`facts.Fact`), `chain_rows` the rows of a chain.
`states` and `head_words` name its type and state, `formats` writes figures and times, `wire_text` makes text from the
wire safe to show. Colours are names (`badge.consumed`), never looked up: the front end paints.
"""
