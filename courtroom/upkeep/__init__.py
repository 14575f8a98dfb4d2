"""Looking after a store: the doctor, and backups."""
