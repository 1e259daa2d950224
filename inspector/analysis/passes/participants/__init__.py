"""Participants: presence, capabilities, and impersonation of the gateway."""
