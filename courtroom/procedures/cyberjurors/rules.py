"""The judgment rules that jurors apply: the matters of the paper's prompt E.7, in our own words."""

RULES: tuple[str, ...] = (
    "A refund is due where conclusive evidence shows that the delivered item seriously departs from its description, "
    "has a grave quality problem, or that the seller knowingly hid one.",
    "An item that is as described, from a seller who disclosed what there was to disclose, is not returned for a "
    "refund unless special circumstances call for it.",
    "What the chat history and inspection reports say about the item's state counts for more than display pictures.",
    "Second-hand goods may show wear. Wear alone is no departure from the description, even from “almost new”, unless "
    "the problem is grave or the wear is obvious and went unmentioned.",
    "A seller who showed the item's true state before the sale, in words or pictures, may take it that a buyer who "
    "then ordered had accepted that state.",
    "A buyer who did not read the listing and the chat and is merely disappointed has no claim to a refund, save where "
    "refusing one would be plainly unreasonable.",
    "Weigh whether evidence could be staged or invented by either side, and what each side neglected to do.",
    "What matters is the item's state when it was shipped and when it was received. Traces of use after unpacking, or "
    "a parcel whose first opening was not documented, weaken a buyer's claim.",
)
