"""GUIDE-LLM (doi:10.1038/s41562-026-02492-7), filled in from the record as far as that goes. The items are described in our own words."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Settings:
    """Arms that were asked in the same way."""

    who: str
    """Which model answered, in words."""
    procedure: str
    sampling: str
    answered: tuple[str, ...]
    """How the model named itself."""
    arms: tuple[str, ...]


@dataclass(frozen=True)
class Plan:
    """Arms that ran equally often."""

    repeats: int
    seeds: tuple[int, ...]
    arms: tuple[str, ...]


@dataclass(frozen=True)
class Facts:
    """All that the texts of a bundle say of how the experiment was done."""

    experiment: dict[str, str]
    dataset: dict[str, Any]
    arms: tuple[str, ...]
    settings: tuple[Settings, ...]
    plan: tuple[Plan, ...]
    cells: dict[str, int]
    took: dict[str, Any]
    statistics: dict[str, Any]
    hypotheses: dict[str, Any]
    interventions: int
    """What persons did to the runs that were looked at: the first and the last of each arm."""
    retrievals: int
    """What was looked up in these."""
    prompts: dict[str, Any]
    software: dict[str, str]
    dates: dict[str, str]
    command: str


@dataclass(frozen=True)
class Item:
    """One item of the checklist."""

    id: str
    asks: str
    answer: str = ""
    """Empty where the record does not say."""
    still: str = ""
    """What only the authors can add."""


def checklist(facts: Facts) -> list[Item]:
    """All items: fourteen that are always reported, and those that are optional."""
    took, cells, asked = facts.took, facts.cells, [one for one in facts.settings if one.procedure]
    procedures = ", ".join(sorted({one.procedure for one in asked}))
    models = "; ".join(dict.fromkeys(one.who for one in facts.settings))
    named = "; ".join(dict.fromkeys(name for one in facts.settings for name in one.answered))
    sampling = "; ".join(dict.fromkeys(one.sampling for one in facts.settings if one.sampling))
    runs = "; ".join(
        f"{one.repeats} for each case, seeds {', '.join(map(str, one.seeds)) or 'none'}" for one in facts.plan
    )
    dollars = "the price is not known" if took["dollars"] is None else f"US$ {took['dollars']:.4g}"
    spent = f"{took['calls']:,} calls, {took['tokens']:,} tokens, {dollars}, {took['seconds']:,} seconds of calls"
    memory = f"Arms learned from the split “{facts.dataset['train']}” before the test; the memory was frozen then."
    persons = (
        f"{facts.interventions} interventions by persons in the runs looked at, the first and the last of each arm."
    )
    looked = f"Look-ups in the runs looked at: {facts.retrievals}."
    steps = f"Members of a deliberation, asked one by one ({procedures})." if procedures else ""
    return [
        Item("A.1", "What models were used for", steps or f"Their predictions were compared: {models}.",
             "any other use in the study, such as writing."),
        Item("A.2", "How far persons took part", f"Cells ran by program. {persons}" if asked else ""),
        Item("B.1", "Which models, in which version, when, from where",
             f"{models}. Named itself: {named or 'nothing'}. From {facts.dates['begun']} to {facts.dates['last'] or 'unknown'}.",
             "size and link of each language model."),
        Item("B.2", "How they were reached, and whether calls share a conversation",
             f"By LiteLLM or in the program, through Courtroom {facts.software['courtroom']}; each call stands alone." if asked else ""),
        Item("B.3", "Settings that change answers", f"{sampling or 'None that a language model takes'}. Runs: {runs}." if asked else ""),
        Item("B.4", "What was added to the model", f"{steps} {looked}" if asked else "", "any fine-tuning of the models."),
        Item("B.5", "Whether a session remembered earlier ones",
             (memory if facts.dataset["train"] else "No: no tested case leaves anything behind.") if asked else ""),
        Item("C.1", "The exact prompts", f"In the folder prompts/, as they stand in Courtroom {facts.software['courtroom']}; edits in experiment.toml. Hash {facts.prompts['hash']}." if asked else ""),
        Item("C.2", "Instructions for the whole system", "In prompts/, the files whose names begin with _system." if asked else ""),
        Item("D.1", "Personal or sensitive data, and how they were kept safe"),
        Item("E.1", "Whether persons checked the answers"),
        Item("E.2", "What was done to answers before they were counted",
             f"Each is read by a schema, asked again where it does not fit, then counted as an abstention. "
             f"Of {cells['all']:,} cells, {cells['failed']:,} failed and {cells['waiting']:,} are waiting." if asked else ""),
        Item("F.1", "Whether code is shared", f"All to run it again is here: {facts.command}.", "where this bundle is published."),
        Item("G.1", "Funding and interests"),
        Item("Optional 1", "Why these models"),
        Item("Optional 2", "Why these prompts"),
        Item("Optional 3", "Comparison with other methods or models", f"table.md compares {len(facts.arms):,} arms."),
        Item("Optional 4", "Whether models may have seen the data in training"),
        Item("Optional 5", "Bias that may change what is concluded"),
        Item("Optional 6", "What was said in full",
             f"On record; courtroom experiment inspect {facts.experiment['name']} --to FOLDER writes it." if asked else ""),
        Item("Optional 7", "What the research means for people"),
        Item("Optional 8", "What it took to compute", f"{spent}." if asked else "", "the machines that answered."),
    ]  # fmt: skip
