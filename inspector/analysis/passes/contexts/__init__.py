"""The context tree: nodes, their bounds, states and visibility."""
