"""Token counts of messages: an offline estimate by one tokenizer for all models."""
