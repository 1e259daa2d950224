"""Panel of the middle column: steps as a tree with durations, tokens, costs, and a waterfall."""
