"""Makes payloads readable: text and tables, independent of drawing."""
