"""States of messages: the field `state`, from passes and findings."""
