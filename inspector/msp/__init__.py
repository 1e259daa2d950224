"""MSP documents: sessions with their sub-sessions, read, checked, edited and saved; no Qt, no capture."""
