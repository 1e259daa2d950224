"""Latency of answers, by tool and by server."""
