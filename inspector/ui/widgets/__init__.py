"""Small widgets shared by several parts of the window. They do not know documents."""
