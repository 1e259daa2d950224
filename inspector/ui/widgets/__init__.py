"""Small widgets that several parts of the window share. They know nothing of documents."""
