"""Summaries of one context, participant, result or group of messages."""
