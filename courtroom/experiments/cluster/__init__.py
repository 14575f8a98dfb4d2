"""Cells of an experiment on a Dask cluster: whoever drives the experiment hands its cells to workers, who share its store.

A cell is an ordinary run there too, with its lease and its record. Only what `reach` has is imported without Dask.
"""
