"""Turns, agents and steps of a document: a call with its answer is one step, and so is a model's output."""
