"""What window and command line say in words; no Qt.

`Subject` is the message a page is about. Modules of `..._facts` make its rows (`facts.Fact`), `chain_rows` those of a
chain; `states` and `head_words` name what it is, `formats` writes figures and times, `wire_text` makes text of the wire
safe to show. Colours are named (`badge.consumed`) and never looked up: how a row is painted is a front end's affair.
"""
