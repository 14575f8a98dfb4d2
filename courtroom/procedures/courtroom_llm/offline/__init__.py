"""Courtroom-LLM offline: overlap of words for pairs, lists of words for feelings, nearest examples for the judges."""
