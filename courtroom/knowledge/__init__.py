"""What members can look up."""
