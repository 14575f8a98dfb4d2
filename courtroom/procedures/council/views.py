"""Who ranked how, how far they agree, and what may bias them, drawn from a run's record."""

from collections.abc import Mapping

from courtroom import Record, Table, Text
from courtroom.engine.court import chance
from courtroom.procedures.council import ranks
from courtroom.procedures.council.tasks import RankAnswers, Respond


def given(record: Record) -> tuple[dict[str, int], list[ranks.Rank]]:
    """Return how many characters each answer has, by its author in the order of seats, and all ranks.

    Letters were dealt to authors in this order; calls are on record in the order in which they ended.
    """
    answers = {call.member: call.value for call in record.calls if call.task == Respond.name and call.value}
    lengths = {
        member.id: sum(map(len, answers[member.id]["reasons"])) + len(answers[member.id]["answer"])
        for member in record.everybody
        if member.id in answers
    }
    found: list[ranks.Rank] = []
    for call in record.calls:
        if call.task == RankAnswers.name and call.value:
            letters = ranks.dealt(chance(record.run.seed, "letters", call.member), [*lengths])
            found += ranks.ranked(call.member, letters, call.value["order"])
    return lengths, found


def drawn(record: Record) -> Mapping[str, tuple[Table | Text, ...]]:
    """A row an answer, a column a member; then agreement and possible biases."""
    lengths, found = given(record)
    places = {(rank.author, rank.ranker): rank for rank in found}
    rankers = list(dict.fromkeys(rank.ranker for rank in found))
    means = ranks.mean_ranks(found)
    rows = tuple(
        (record.name_of(author), *(cell(places.get((author, ranker))) for ranker in rankers), means.get(author))
        for author in (*means, *(one for one in lengths if one not in means))
    )
    columns = ("Answer of", *map(record.name_of, rankers), "Mean rank")
    who = Table(columns, rows, title="Who ranked how", empty="Nobody has answered yet.")
    if (agreed := ranks.agreement(found)) is None:
        return {"": (who, Text("Agreement is measured once two members have ranked three answers."))}
    told = f"Kendall's W is {agreed:.2f}: 0 is no agreement, 1 full agreement, {1 / len(rankers):.2f} what chance would give."
    biases = (
        ("Shown earlier", ranks.correlation(found, {rank: -rank.shown for rank in found})),
        ("Long", ranks.correlation(found, {rank: lengths[rank.author] for rank in found})),
        ("One's own (in places)", ranks.own_advantage(found)),
    )
    measured = tuple((name, None if value is None else round(value, 2)) for name, value in biases)
    note = (
        "The first two are Spearman's correlations, from -1 to 1. A long answer may be better, and so may one's own: "
        "with few ranks, all three move by chance."
    )
    table = Table(("An answer is ranked better if it is", "By how much"), measured, title="Possible biases")
    return {"": (who, Text(told), table, Text(note))}


def cell(rank: ranks.Rank | None) -> str | None:
    """A rank as it counts; that of one's own answer in brackets, as it is left out."""
    return None if rank is None else f"({rank.place})" if rank.counted is None else str(rank.counted)
