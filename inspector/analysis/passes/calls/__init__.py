"""Requests, proposals and their answers: correlation, waits and departures."""
