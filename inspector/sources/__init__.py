"""Drivers that bring bytes in: each appends frames to a capture and reports its state.

``gateway`` is the live one; ``connection`` holds what a user says to reach it, ``opening`` opens the socket,
``handshake`` knows the messages, ``failures`` the sentences.
"""
