"""The engine: courts, stages, runs and their record."""
