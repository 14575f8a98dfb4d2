"""JURIS: a heterogeneous jury writes a summary, sentence by sentence, by critique and vote."""
