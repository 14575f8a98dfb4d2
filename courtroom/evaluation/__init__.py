"""What runs and predictions are worth: agreement, significance, terms, summaries, retrieval; runs compared and listed."""
