"""How good predictions are: the measures of the papers, as pure functions over predictions and gold in the same order."""

from courtroom.evaluation.labels import Macro, accuracy, choice_accuracy, hit_at, macro_scores
from courtroom.evaluation.terms import CLASSES, amount_accuracy, log_distance, normalised_log_distance, term_class

__all__ = [
    "CLASSES",
    "Macro",
    "accuracy",
    "amount_accuracy",
    "choice_accuracy",
    "hit_at",
    "log_distance",
    "macro_scores",
    "normalised_log_distance",
    "term_class",
]
