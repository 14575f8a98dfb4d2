"""Courtroom-LLM: prosecutor and attorney argue for two labels of an ambiguous text, judges decide."""
