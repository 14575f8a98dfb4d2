"""VERDICT: a collegial panel drafts, verifies and revises, under a memory that turns precedents into directives."""
