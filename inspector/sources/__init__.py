"""Drivers and readers that bring bytes in: live frames to a capture; files, archives and pipes as lines.

``gateway`` is the driver of a live connection. ``connection`` has its parameters, ``opening`` opens the socket,
``handshake`` builds and reads the messages, and ``failures`` words its errors.
"""
