"""Who sits in a panel: personas, and who follows whom."""
