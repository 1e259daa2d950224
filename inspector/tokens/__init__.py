"""How many tokens a message has: an estimate by one tokenizer, without a network, whatever model the agents use."""
