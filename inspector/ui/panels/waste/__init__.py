"""The waste panel: avoidable tokens of the context windows, the most expensive first."""
