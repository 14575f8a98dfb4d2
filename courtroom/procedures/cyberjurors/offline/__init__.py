"""The offline model's methods for CyberJurors."""
