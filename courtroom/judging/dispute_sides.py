"""What can be voted for in a dispute: each side with its word, colour and shapes, the same in every procedure."""

from __future__ import annotations

from courtroom.engine.procedure import Choice

CHOICES = (
    Choice("buyer", "Buyer", tone=0, symbol="circle", mark="●"),
    Choice("seller", "Seller", tone=1, symbol="square", mark="■"),
)
