"""How things are said in words, in the reader's language: names and texts, sums, numbers and times."""

from datetime import datetime
from html import escape

from courtroom.engine.events import Called
from courtroom.engine.record import Record
from courtroom.language import _, ngettext, translated

MARKS = "\\`*_{}[]()<>#+-.!|~$:=&\"'@"


def literal(text: object) -> str:
    """For Markdown: titles, captions, messages, labels, tooltips, options of radios and pills. In one line."""
    return "".join(f"\\{c}" if c in MARKS else c for c in " ".join(translated(str(text)).split()))


def declared(text: str) -> str:
    """Return what the author of a procedure wrote, in the reader's language: Markdown as it is, for labels and help.
    Screen readers are given a label as it was written: `literal` would have them read its marks."""
    return translated(text)


def escaped(text: object, *, as_it_is: bool = False) -> str:
    """Return a text for HTML, between tags and in quoted attributes; `as_it_is`, as part of one, is not translated."""
    return escape(str(text) if as_it_is else translated(str(text)), quote=True)


def placed(record: Record, call: Called) -> str:
    """Return where an answer was given, in the reader's words."""
    return " · ".join(map(translated, record.place_of(call)))


def field_in_words(path: str) -> str:
    """Return the path of a field with a name for each of its steps, such as `Persona · Background`."""
    steps = (step.replace("_", " ") for step in path.split("."))
    return " · ".join(translated(step[:1].upper() + step[1:]) for step in steps)


def money(dollars: float | None, *, about: bool = False) -> str:
    """Return a sum of US dollars. `about`: it is estimated, as a server did not count its tokens."""
    if about and dollars:
        return _("about {number}", number=money(dollars))
    if dollars is None:
        return _("price unknown")
    if dollars == 0:
        return _("free")
    return f"${dollars:,.2f}" if dollars >= 0.01 else f"{dollars * 100:.2g} ¢"


def spent_in_words(run: Record) -> str:
    """Return what a run took: calls, tokens, money and time."""
    calls = {"asked": count(run.asked), "recorded": count(run.recorded), "failed": run.failed}
    prompt, completion = run.tokens
    tokens = {"prompt": count(prompt, about=run.spent.estimated), "completion": count(completion)}
    text = _("{asked} calls asked, {recorded} from the record, {failed} failed", **calls)
    text += _(" · {prompt} prompt and {completion} completion tokens", **tokens)
    if run.spent.cached:
        text += _(" ({cached} from the provider's cache)", cached=count(run.spent.cached))
    if run.spent.batched:
        text += _(" · {batched} tokens by batch, at half the price", batched=count(run.spent.batched))
    return f"{text} · {literal(money(run.cost, about=run.spent.estimated))} · {duration(run.run.wall_s)}"


def count(number: float, *, about: bool = False) -> str:
    """1,234 or 1.2 M. `about`: it is estimated."""
    if about and number:
        return _("about {number}", number=count(number))
    for size, name in ((1e9, " bn"), (1e6, " M"), (1e4, " k")):
        if number >= size:
            return f"{number / (size if size != 1e4 else 1e3):.1f}{name}"
    return f"{number:,.0f}"


def many(number: int, thing: str) -> str:
    """1 run, 2 runs."""
    return ngettext(f"{{number}} {thing}", f"{{number}} {thing}s", number)


def duration(seconds: float) -> str:
    """0.2 s, 45 s, 3 min 20 s, 2 h 5 min."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(int(seconds), 60)
    if minutes < 60:
        return _("{minutes} min {rest} s", minutes=minutes, rest=rest) if rest else _("{minutes} min", minutes=minutes)
    return _("{hours} h {minutes} min", hours=minutes // 60, minutes=minutes % 60)


def moment(at: float) -> str:
    return datetime.fromtimestamp(at).strftime("%Y-%m-%d %H:%M")
