"""The waste panel: what of a context window could have been spared, what costs most first."""
