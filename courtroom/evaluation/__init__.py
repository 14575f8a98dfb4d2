"""What runs and predictions are worth: significance, agreement, summaries; runs compared and listed."""
