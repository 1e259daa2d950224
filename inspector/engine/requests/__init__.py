"""The requests of the engine: a module per topic, and the table that lists them."""
