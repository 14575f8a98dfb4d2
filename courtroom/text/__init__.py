"""Words, sentences and differences of texts."""
