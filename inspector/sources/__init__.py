"""How bytes come in: live ones by drivers that append frames to a capture; those of files, archives and pipes as lines.

``gateway`` is a driver; ``connection`` holds what a user says to reach it, ``opening`` opens the socket,
``handshake`` knows the messages, ``failures`` the sentences.
"""
