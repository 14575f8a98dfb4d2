"""Norm distillation: the closed loop by which CyberJurors' precedent base grows (appendix B.2)."""
