"""Classical methods for criminal cases: what the offline model of the criminal benches goes by."""
