"""Keys and the keyboard."""
