"""The view of the Model Subsession Protocol: sessions shown and edited."""
