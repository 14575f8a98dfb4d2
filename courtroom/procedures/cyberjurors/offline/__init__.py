"""The offline model's methods for CyberJurors; importing this registers them."""

from courtroom.procedures.cyberjurors.offline import answers

__all__ = ["answers"]
