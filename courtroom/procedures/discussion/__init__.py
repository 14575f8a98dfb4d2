"""A discussion among several points of view, after ChatEval; with one turn, self-consistency and a chain of thought."""
