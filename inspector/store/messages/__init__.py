"""The capture: messages folded from records, and access to their bytes."""
