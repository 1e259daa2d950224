"""Model sees panel: the model context of a participant at a message, with its token cost."""
