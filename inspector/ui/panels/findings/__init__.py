"""The findings panel: what the checks found, worst first, grouped, a click away from its message."""
