"""The view "Model sees": what stands in the context of a participant's model at a message, and what it costs."""
