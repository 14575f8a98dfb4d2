"""Points of view for the seven seats, for a jury whose seats are one model (the paper's seats differ by model alone). A point of
view says what a seat looks at first. All seats keep to the same standards, as section 3.1 asks for."""

from collections.abc import Mapping

LONGEST = 600
"""Characters of one point of view."""

SEVEN: Mapping[str, str] = {
    "generator-a": "Look for what happened and to whom: the events, people and figures that a reader needs to retell the document.",
    "generator-b": "Look for causes and consequences: why it happened, what follows from it, and what is still open.",
    "juror-01": "Look first at the evidence: is every word of the candidate supported by the document?",
    "juror-02": "Look first at importance: would a reader who knows nothing else miss the main matter without this sentence?",
    "juror-03": "Look first at what is new: what does the candidate add to the sentences that are accepted already?",
    "juror-04": "Look first at the order: does the candidate follow well after the sentences before it, and does the reader know of whom it speaks?",
    "juror-05": "Look first at brevity: is the candidate short, plain and clear, with no word that could be left out?",
}
"""By member: our own words; the paper states none."""
