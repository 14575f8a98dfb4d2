"""Would it be the same for somebody else? What is to be changed about the parties, read before it is heard; what it moved."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from courtroom import Case, Courthouse
from courtroom.access import signed
from courtroom.experiments.mirror import Drafts, drafts, lines, told, with_mirror
from courtroom.experiments.results import ExperimentResults
from courtroom.experiments.spec import Experiment
from courtroom.figures.experiment import draw_mirror
from courtroom.language import _, translated
from courtroom.models.offline import NOTICE
from courtroom.models.spec import OFFLINE, ModelSpec
from courtroom.questions.mirror import KINDS, USUAL, Change, Mirrored, texts
from pages.parts.shared.blocks_view import diff_html
from pages.parts.shared.models_form import model_picker, typed_keys
from pages.parts.shared.shown import errors_shown, in_columns, literal, table, theme

AT_FIRST = ("order", "gender", "nationality")
ASKED = {"gender": "woman, man", "words": "A>B; C>D", "rewriting": "Her name is Ngozi Okafor."}
"""What stands in an empty field as an example."""
PER_ROW = 3
MAX_DRAFTS_OPEN = 6


def mirror_form(house: Courthouse, experiment: Experiment) -> Experiment | None:
    """Choose what is changed, read what it makes of the cases, put it right; the experiment once that is approved."""
    about = _("One thing about the parties at a time, all else held, against the same heard again under other seeds.")
    st.caption(about)
    titles, values = {kind: translated(title) for kind, title in KINDS.items()}, dict[str, str]()
    kinds = st.multiselect(_("Change"), list(titles), [*AT_FIRST], key="mirror-kinds", format_func=titles.__getitem__)
    for column, kind in in_columns([kind for kind in kinds if kind != "order"], PER_ROW):
        looks: dict[str, Any] = {"key": f"mirror-{kind}", "placeholder": ASKED.get(kind, "")}
        values[kind] = column.text_input(titles[kind], USUAL.get(kind, ""), **looks)
    about = _("A name as it stands in the case, or such as: the seller, the defendant.")
    who = st.text_input(_("Of whom"), key="mirror-who", placeholder=_("the first party that a case names"), help=about)
    spec = model_picker({"id": OFFLINE}, "mirror-model", house.connections)[0] if "rewriting" in kinds else {}
    changes = [Change(kind=kind, value=values.get(kind, "").strip()) for kind in kinds]
    wanted = (experiment.digest, changes, who, spec)
    if st.button(_("Show what would be changed"), icon=":material/compare:", disabled=not changes):
        with errors_shown(), st.spinner(_("Rewriting ...")):
            model = ModelSpec.model_validate(spec) if spec else None
            cases = house.experiments.cases(experiment)
            drafted = drafts(house, cases, changes, who.strip(), model, experiment.budget, typed_keys())
            st.session_state["mirror-drafts"] = (wanted, drafted)
    kept = st.session_state.get("mirror-drafts")
    if kept is None or kept[0] != wanted:
        return None
    approved = _read(kept[1], {case.id: case for case in house.experiments.cases(experiment)})
    if not st.checkbox(_("I have read all of it: so it may be heard"), key=f"mirror-approved-{experiment.digest[:8]}"):
        return None
    with errors_shown():
        return with_mirror(experiment, approved, signed(_("who was at this page")))
    return None


def _read(drafted: Drafts, cases: Mapping[str, Case]) -> Drafts:
    """Show each draft beside its case, with a field for each text; return them as they were put right."""
    several = sum(map(len, drafted.values())) > MAX_DRAFTS_OPEN
    read: dict[str, dict[str, Mirrored]] = {}
    for title, by_case in drafted.items():
        for name, draft in by_case.items():
            case, key = cases[name], f"mirror-{title}-{name}"
            with st.expander(f"**{literal(title)}** · {literal(case.title)}", expanded=not several):
                if draft.other_order:
                    st.markdown(_("The sides, or the options, stand in the other order."))
                elif not draft.texts:
                    st.caption(_("Stays as it is, and counts for nothing here."))
                if draft.left:
                    st.warning("\n".join(f"- {literal(line)}" for line in draft.left), icon=":material/visibility:")
                edits = not draft.other_order and st.toggle(_("Put it right by hand"), key=f"{key}-edits")
                before, after = texts(case), {**texts(case), **draft.texts}
                for path, text in before.items():
                    if edits:
                        after[path] = st.text_area(path, after[path], key=f"{key}-{path}", height="content")
                    if after[path] != text:
                        st.html(f"<small>{path.replace('.', ' ')}</small>" + diff_html(text, after[path]))
                changed = {path: text for path, text in after.items() if text.strip() and text != before[path]}
                read.setdefault(title, {})[name] = draft.model_copy(update={"texts": changed})
    return read


def mirror_view(results: ExperimentResults) -> None:
    """What each change moved: in sentences, as a figure, as a table."""
    found = results.mirror
    models = sorted({model for row in results.rows for model in row.outcome.models})
    about = _("Each change against the same heard again, unchanged: over cases or, of a single one, over seeds.")
    st.subheader(_("Would it be the same for somebody else?"), help=about)
    if not found:
        st.info(_("No case was heard both with a change and again without it yet."), icon=":material/hourglass_empty:")
        return
    if OFFLINE in models:
        st.caption(translated(NOTICE))
    if len(models) > 1:
        st.caption(_("Those who voted were several models: {models}.", models=literal(", ".join(models))))
    if any(pair.holds for pair in found):
        st.warning(_("It is not the same."), icon=":material/balance:")
    elif any(pair.knowable for pair in found):
        st.success(_("No change is shown to move anything."), icon=":material/balance:")
    else:
        st.info(_("There are too few cases or seeds to know of any difference."), icon=":material/balance:")
    for line in told(found):
        st.markdown(f"- {literal(line)}")
    st.plotly_chart(draw_mirror(found, theme()), key="mirror-figure")
    forms = {**dict.fromkeys(("changed", "again", "difference", "from", "to"), "percent"), "p": "%.3f"}
    columns = {name: st.column_config.NumberColumn(translated(name), format=form) for name, form in forms.items()}
    table(lines(found), config=columns)
