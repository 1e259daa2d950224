"""The findings panel: findings of all checks, grouped, the most severe first."""
