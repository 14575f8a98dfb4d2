"""Courtroom-LLM offline: overlap of words for pairs, lists of words for feelings, nearest examples for the judges."""

from courtroom.procedures.courtroom_llm.offline import answers as answers
