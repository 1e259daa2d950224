"""The timeline panel: messages as marks in lanes over time, with their contexts."""
