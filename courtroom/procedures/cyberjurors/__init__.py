"""CyberJurors: a jury with personas judges an e-commerce dispute from multi-round, multimodal evidence."""
