"""What-if sweeps: planned, kept, driven, read."""
