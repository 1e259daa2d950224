"""Compares two runs: aligns their steps, classifies differences, finds the first divergence and its cause."""
