"""The capture: messages folded from records, and the way back to their bytes."""
