"""Classical methods that procedures share: what the offline model goes by in criminal cases and disputes."""

from lazy_loader import attach

__getattr__, __dir__, __all__ = attach(__name__, ["options"])
