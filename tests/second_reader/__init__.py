"""A second reader: slow and simple, written from docs/protocols.md alone, that shares no code with the program.

It takes the bytes of a log and says what the protocols make of them: messages and their kinds (`messages`), what
answers what and which tool was called (`calls`), contexts (`contexts`), results that collapse (`results`), who may do
what (`capabilities`), and what a sub-session sends (`sessions`). Properties compare it with what commands print;
where the two differ, one of them, or the page, is wrong.
"""
