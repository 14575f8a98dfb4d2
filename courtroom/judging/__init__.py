"""Classical methods that procedures share: what the offline model goes by in criminal cases and disputes."""
