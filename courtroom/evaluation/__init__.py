"""How good predictions are: the measures of the papers, as functions."""
