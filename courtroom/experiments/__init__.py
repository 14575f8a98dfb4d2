"""Experiments: a dataset, arms and repeats become cells, each an ordinary run; what they came to becomes a table."""
