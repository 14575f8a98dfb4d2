"""Statutes, charges, judgments and article numbers."""
