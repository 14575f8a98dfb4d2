"""A question that somebody typed, with the files that go with it, as a case."""

from collections.abc import Iterable, Sequence

from pydantic import ValidationError

from courtroom.cases.checks import explain
from courtroom.cases.files import Package
from courtroom.cases.papers import read_papers
from courtroom.cases.question import Piece, asked
from courtroom.errors import CaseError
from courtroom.media.medium import Medium


def asked_with(question: str, options: Sequence[str] = (), files: Iterable[tuple[str, bytes]] = ()) -> Package:
    """Make a case of a question and the files that members are to read or look at.

    Args:
        question: as it was typed.
        options: two to six answers to choose from; none: members propose.
        files: name and content of pictures, videos, and papers as `read_papers` reads them.

    Raises:
        CaseError: there is no question, an option does not fit, or a file can't be read; the sentence says which.
    """
    media: dict[str, bytes] = {}
    material: list[Piece] = []
    remarks: list[str] = []
    for name, data in files:
        papers = read_papers(name, data)
        remarks += papers.remarks
        for piece in papers.pieces:
            shown: tuple[Medium, ...] = ()
            if piece.medium:
                name, (kind, ending) = f"material-{len(material) + 1}", piece.form
                shown = (Medium(id=name, kind=kind, file=f"media/{name}{ending}"),)
                media[shown[0].file] = piece.medium
            material.append(Piece(text=piece.text, source=piece.source[:400], media=shown))
    try:
        return Package(asked(question, options, material), media, tuple(dict.fromkeys(remarks)))
    except ValidationError as error:
        raise CaseError(" ".join(explain(error))) from error
