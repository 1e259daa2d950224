"""Overview tab: section builders for each kind of message."""
