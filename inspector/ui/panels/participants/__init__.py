"""The participants panel: presence, permissions and reported usage."""
