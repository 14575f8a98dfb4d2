"""Brings the catalogue up to date with the source: `python -m tests.write_catalogue`.

New messages are added without a translation, for somebody to write one; messages that are gone are taken out.
"""

import io

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

from courtroom.language import path_of
from tests.interface_texts import Found, found


def written(messages: Found, language: str = "zh") -> str:
    """The catalogue as it has to be: these messages, with the translations that there are."""
    with path_of(language).open("rb") as file:
        kept = read_po(file, locale=language, domain="courtroom")
    catalogue = Catalog(language, domain="courtroom", fuzzy=False, header_comment=kept.header_comment)
    for message in sorted(messages, key=lambda one: (min(messages[one]), one)):
        one, _, several = message.partition("\0")
        known = kept.get(one)
        places = [(file, None) for file in sorted(messages[message])]
        translation = known.string if known else ""
        forms = (translation,) if isinstance(translation, str) else translation
        catalogue.add((one, several) if several else one, forms if several else forms[0], places)
    text = io.BytesIO()
    write_po(text, catalogue, width=0, sort_by_file=True, omit_header=False)
    lines = text.getvalue().decode().split("\n")
    dated = ("Project-Id-Version", "POT-Creation-Date", "PO-Revision-Date", "Generated-By", "Report-Msgid")
    dated += ("Last-Translator", "Language-Team")
    return "\n".join(line for line in lines if not line.strip('"').startswith(dated))


def missing(language: str = "zh") -> list[str]:
    """Messages of the source without a translation; they are shown in English."""
    with path_of(language).open("rb") as file:
        kept = read_po(file, locale=language)
    texts = (one.partition("\0")[0] for one in found())
    return [one for one in texts if not (known := kept.get(one)) or not any(known.string or "")]


def main() -> None:
    """Bring the catalogue up to the source, and list what has no translation; exit code 1 where there is any, for a release."""
    path_of("zh").write_text(written(found()), encoding="utf-8")
    bare = missing()
    print(f"{len(bare)} messages have no translation.")
    for message in bare:
        print(f"  {message}")
    if bare:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
