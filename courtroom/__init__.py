"""Watch and steer deliberations between language-model agents."""

__version__ = "0.1.0"
