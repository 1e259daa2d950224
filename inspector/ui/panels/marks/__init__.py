"""The marks panel: everything the user marked or commented on."""
