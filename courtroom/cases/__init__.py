"""Kinds of case, with their files, checks, readers and library."""
