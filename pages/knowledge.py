"""Knowledge: what members can look up, what the memory has learned, and how it came to it."""

from functools import partial
from typing import Any

import streamlit as st

from courtroom import Courthouse, CriminalCase
from courtroom.access import Access, may
from courtroom.cases.dispute import CATEGORIES, Dispute, Precedent, PrecedentBatch
from courtroom.figures.graph import draw_confidence, draw_standards
from courtroom.knowledge.bases import BUNDLED, IMPORTED, How, from_dispute, kept_as, origins
from courtroom.knowledge.collection import Mode
from courtroom.knowledge.imports import ImportJob
from courtroom.knowledge.index import Filter
from courtroom.knowledge.lessons import RecordChange
from courtroom.knowledge.memory import Directive, Recall, Standard
from courtroom.language import _, ngettext, translated
from courtroom.law import Charge, Statute
from courtroom.models.spec import OFFLINE
from courtroom.text.words import changes
from pages.parts.cases import MARKS
from pages.parts.shared import shown
from pages.parts.shared.blocks_view import diff_html
from pages.parts.shared.house import courthouse
from pages.parts.shared.models_form import embedding_choice, start_with_models
from pages.parts.shared.shown import count, literal, moment

SHOWN = "imported-into"
"""Kind and base of the last import, in the session: its base is shown as soon as something is in it."""
HOW: dict[How, str] = {"add": "stays", "replace": "is replaced by this file"}
FORMS = {
    "statutes": "JSONL, one article a line: `number`, `text`, and, if you like, `suffix`, `interpretation`, `charges`.",
    "charges": "JSONL, one charge a line: `name`, `articles`, and, if you like, `text`.",
    "cases": "CAIL2018 records, LawBench tasks or criminal cases with `gold`, as .json or .jsonl.",
}


@shown.offered
def import_view(house: Courthouse, into: str) -> None:
    with st.expander(_("Import"), icon=":material/upload:"):
        file = shown.uploader(st, _("A file"), ["json", "jsonl"], key=f"import-{into}")
        about = _("A name of small letters, digits and hyphens; a new one makes a new base.")
        base = st.text_input(_("Into the knowledge base"), IMPORTED, key=f"import-base-{into}", help=about)
        held, key = _("What the base holds already"), f"import-how-{into}"
        how: How = st.radio(held, list(HOW), format_func=lambda how: translated(HOW[how]), key=key, horizontal=True)
        whole = _("The whole file is checked first; if one record is bad, nothing of it is imported.")
        st.caption(f"{translated(FORMS[into])} {whole}")
        if st.button(_("Check and import"), type="primary", disabled=file is None) and file is not None:
            with shown.errors_shown():
                with st.spinner(_("Checking every record ...")):
                    given = file.name, file.getvalue(), base.strip(), how
                    checked = house.imports.check(into, *given)  # type: ignore[arg-type]
                house.take_in(checked)
                st.session_state[SHOWN] = (into, base.strip())
    kind, imported = st.session_state.get(SHOWN, ("", ""))
    if kind == into and imported in house.knowledge.bases():
        st.session_state[f"base-{into}"] = imported
        del st.session_state[SHOWN]
    shown.under_way(house.taking_in, _told)


def _told(job: ImportJob) -> None:
    if job.running:
        values = {"name": literal(job.name), "what": literal(job.what)}
        text = _("{name}: {what} {done} of {total}", done=job.done, total=job.total, **values)
        st.progress(job.done / max(1, job.total), text)
    elif job.error:
        st.error(literal(job.error))
    else:
        st.success(_("{name}: all {total} records are in.", name=literal(job.name), total=job.total))


RECORDS_A_PAGE = 20
ABOUT_COLLECTIONS = {
    "precedents": "Similar precedents are looked up for every hearing; a juror is given the norms closest to its persona. "
    "Those that come with Courtroom are invented, with their votes and opinions.",
    "statutes": "An unofficial digest of the Criminal Law of the PRC (2023 amendment), in our words; import a statute "
    "book for the law's own.",
    "charges": "The list of charges that the digest names, with the articles under which they stand.",
    "cases": "Referred precedents with their judgments, all of them fictional.",
}
MODES: dict[Mode, str] = {"hybrid": "By both, fused", "dense": "By meaning (dense)", "bm25": "By words (BM25)"}


def collection_view(house: Courthouse, name: str) -> None:
    bases = house.knowledge.bases()
    base = BUNDLED
    if len(bases) > 1:
        base = st.selectbox(_("Knowledge base"), bases, key=f"base-{name}", format_func=translated)
    embedding = embedding_choice(house.settings.embedding, "", f"embedding-{name}")
    collection = house.knowledge.using(embedding).of(name, base)  # type: ignore[arg-type]
    line = translated(ABOUT_COLLECTIONS[name]) if base == BUNDLED else _("Imported.")
    if base != BUNDLED and (files := origins(house.database, kept_as(name, base))):
        of = [_("{file} ({records} records)", file=literal(one.file), records=one.records) for one in files]
        line = _("Imported from {listed}.", listed="; ".join(of))
    st.caption(_("{told} {collection} records.", told=line, collection=count(len(collection))))
    if may(Access.OWN):  # to whom the machine belongs
        index, folder = literal(collection.index_name), literal(house.knowledge.folders.where)
        st.caption(_("Chroma holds their vectors: the collection {name} in {where}.", name=index, where=folder))
    top = st.columns([5, 2, 1.4], vertical_alignment="bottom")
    key, days = collection.name, {}
    hint = _("a wallet taken on a bus · 在公交车上扒窃")
    titles = {mode: translated(text) for mode, text in MODES.items()}
    text = top[0].text_input(_("Search by matter"), placeholder=hint, key=f"search-{key}")
    mode = top[1].selectbox(_("Order"), list(MODES), format_func=titles.__getitem__, key=f"mode-{key}")
    with top[2], st.popover(_("Narrow down"), icon=":material/filter_alt:"):
        category, law, hint = "", "", _("theft · 盗窃")
        if name == "precedents":
            category = st.selectbox(_("Category"), ["", *CATEGORIES], format_func=translated, key=f"category-{key}")
        if name == "cases":
            category = st.text_input(_("Charge"), placeholder=hint, key=f"category-{key}")
        if name != "precedents":
            law = st.text_input(_("Article"), placeholder="264", key=f"law-{key}")
        if base != BUNDLED:
            days["since"] = st.date_input(_("Imported on or after"), value=None, key=f"since-{key}")
            days["until"] = st.date_input(_("Imported on or before"), value=None, key=f"until-{key}")
    only = Filter(category=category, law=law, **days)
    if text.strip():
        with shown.errors_shown():
            hits = house.runner.do(collection.search(text, RECORDS_A_PAGE, mode, only=only)).result()
            if hits:
                heads = ["Found", "Dense rank", "Similarity", "BM25 rank", "BM25", "Fused"]
                scores = [(title_of(one.record), one.scores) for one in hits]
                lines = [(title, s.dense_rank, s.similarity, s.bm25_rank, s.bm25, s.fused) for title, s in scores]
                form = st.column_config.ProgressColumn(_("Similarity"), min_value=0.0, max_value=1.0, format="%.2f")
                shown.table(lines, heads, {"Similarity": form})
            else:
                advice = _("Nothing fits. Use other words or another order, or narrow down less.")
                st.info(advice, icon=":material/filter_alt_off:")
            for one in hits:
                record_view(house, one.record, base)
        return
    if not len(collection):
        below, above = _("Nothing is here yet. Import a file below."), _("Nothing is here yet. Import a file above.")
        st.info(below if name == "precedents" else above, icon=":material/auto_stories:")
        return
    first = shown.first_of_page(len(collection), RECORDS_A_PAGE, f"page-{collection.name}")
    records, damaged = collection.page(first, RECORDS_A_PAGE)
    shown.unreadable_rows(damaged)
    for record in records:
        record_view(house, record, base)


def title_of(record: Any) -> str:
    if isinstance(record, Statute):
        title = " · ".join(filter(None, (record.title.zh, record.title.en)))
        return _("Article {id} · {title}", id=record.id, title=title).strip(" ·")
    if isinstance(record, Charge):
        named, number = ", ".join(record.articles), len(record.articles)
        articles = ngettext("article {articles}", "articles {articles}", number, articles=named)
        return f"{' · '.join(filter(None, (record.name.zh, record.name.en)))} ({articles})"
    if isinstance(record, CriminalCase):
        return " · ".join(filter(None, (record.title, "; ".join((record.gold and record.gold.charges) or ()))))
    votes = f"{record.buyer_votes} : {record.seller_votes} ({_('buyer : seller')})"
    norms = _("{norms} norms", norms=len(record.norms)) if record.norms else _("no norms yet")
    return " · ".join((record.title, translated(record.category), votes, norms))


def record_view(house: Courthouse, record: Any, base: str = BUNDLED) -> None:
    with st.expander(literal(title_of(record))):
        if isinstance(record, Statute) and record.digest:
            st.badge(_("Unofficial digest"), color="orange")
        if isinstance(record, Statute | Charge):
            for text in (record.text.zh, record.text.en):
                shown.inert(text)
        if isinstance(record, Statute):
            for band in record.bands:
                extra = (_(", or life") if band.life else "") + (_(", or death") if band.death else "")
                when = " · ".join(filter(None, (band.when.zh, band.when.en)))
                term = _("{least} to {most} months", least=band.least, most=band.most)
                shown.inert(f"• {when}: {term}{extra}", small=True)
            if record.charges:
                charges = "; ".join(f"{c.zh} {c.en}".strip() for c in record.charges)
                shown.inert(_("Charges: {charges}", charges=charges), small=True)
            if record.interpretation:
                shown.inert(record.interpretation, small=True, faint=True)
        elif isinstance(record, CriminalCase):
            shown.inert(record.facts)
            shown.inert(record.real_outcome(), small=True)
        elif isinstance(record, Precedent):
            _precedent(house, record, is_bundled=base == BUNDLED)


def precedents_view(house: Courthouse) -> None:
    """The precedents of disputes, and below them what can be added and distilled."""
    if deleted := st.session_state.get("deleted_precedent"):
        with shown.undo_bar("deleted_precedent", lambda precedent: house.imports.add_precedents([precedent])):
            st.markdown(_("“{title}” is deleted.", title=literal(deleted.title)))
    collection_view(house, "precedents")
    everything = house.knowledge.of("precedents").all()
    st.divider()
    left, middle, right = st.columns(3, gap="large")
    with left:
        st.subheader(_("Import and export"))
        about = _("The fields are those of the export.")
        file = shown.uploader(st, _("JSON or JSONL"), ["json", "jsonl"], key="precedents-file", about=about)
        if file and st.button(_("Import"), type="primary", disabled=not may(Access.RUN)):
            taken, problems = house.imports.import_precedents(file.getvalue())
            if taken:
                st.success(_("{taken} precedents imported.", taken=len(taken)))
            for problem in problems[:20]:
                st.error(literal(problem))
        lines = "".join(p.model_dump_json() + "\n" for p in everything)
        st.download_button(_("Export all"), lines, "precedents.jsonl", "application/jsonl", icon=":material/download:")
    with middle:
        st.subheader(_("From a case"))
        decided = [case for case in house.library.cases() if isinstance(case, Dispute) and case.real_outcome()]
        chosen = st.selectbox(_("A case with votes on record"), decided, format_func=lambda case: case.title)
        if chosen and st.button(_("Add as a precedent")):
            with shown.errors_shown():
                house.imports.add_precedents([from_dispute(chosen)])
                st.toast(_("Added; its norms are still to be distilled."))
                st.rerun()
    with right:
        st.subheader(_("Distil norms"))
        bare = [p for p in everything if not p.norms]
        model = st.text_input(_("Model"), OFFLINE, help=_("`offline`, or any LiteLLM model id."))
        if st.button(_("Distil {batch}", batch=len(bare)), disabled=not bare):
            _distil(house, bare, model)
        counts = {"bare": len(bare), "everything": len(everything)}
        st.caption(_("{bare} of {everything} precedents are without norms.", **counts))


def _distil(house: Courthouse, chosen: list[Precedent], model: str) -> None:
    title = _("Norms of {chosen} precedents", chosen=len(chosen))
    batch = PrecedentBatch(id="precedents", title=title, precedents=tuple(chosen))
    procedure = house.first_fitting(batch.kind)
    start_with_models(house, procedure, batch, dict.fromkeys((role.name for role in procedure.roles), model))


def _precedent(house: Courthouse, precedent: Precedent, *, is_bundled: bool) -> None:
    """Draw a precedent; one of another base is read alone, as what is changed here is the bundled base."""
    shown.inert(precedent.dispute)
    left, right = st.columns(2, gap="large")
    with left:
        st.caption(_("Jurors' opinions"))
        for opinion in precedent.opinions:
            shown.inert(f"{MARKS[opinion.side]} {opinion.side}: {opinion.text}", small=True)
    with right:
        lines, key = "\n".join(precedent.norms), f"norms-{precedent.id}"
        text = st.text_area(_("Norms, one a line"), lines, key=key, height=160, disabled=not is_bundled)
        norms_now = tuple(line.strip() for line in text.splitlines() if line.strip())[:8]
        changed = is_bundled and may(Access.RUN) and norms_now != precedent.norms
        if changed and st.button(_("Save the norms"), key=f"save-{precedent.id}", type="primary"):
            shown.do(lambda: house.imports.add_precedents([precedent.model_copy(update={"norms": norms_now})]))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(literal(precedent.source))
        if not is_bundled:
            return
        by = _("By the offline model; choose another below the list.")
        if may(Access.RUN) and st.button(_("Distil again"), key=f"distil-{precedent.id}", help=by):
            _distil(house, [precedent], OFFLINE)
        if may(Access.OWN) and st.button(_("Delete"), key=f"delete-{precedent.id}", icon=":material/delete:"):
            st.session_state["deleted_precedent"] = precedent
            house.imports.delete_precedent(precedent.id)
            st.rerun()


ABOUT_MEMORY = {
    "standards": "Verified trajectories whose judgment was the real one. Two are linked where their labels are "
    "identical and their vectors near. A training run of {learners} adds to this archive where the case's real "
    "judgment is known.",
    "directives": "Precise rules that the meta-model draws from standards, with a confidence that rises and falls with "
    "their success. Below the threshold they are pruned; near-duplicates are merged.",
}


def memory_view(house: Courthouse, part: str) -> None:
    memory = house.knowledge.memory
    shown.unreadable_rows((memory.standards if part == "standards" else memory.directives).page()[1])
    archived: list[Standard] = memory.standards.all() if part == "standards" else []
    buffered: list[Standard] = memory.buffer.all() if part == "standards" else []
    directives: list[Directive] = [] if part == "standards" else memory.directives.all()
    learners = ", ".join(literal(one.title) for one in house.procedures.values() if part in one.looks_in)
    st.caption(translated(ABOUT_MEMORY[part]).format(learners=learners))
    if not archived and not buffered and not directives:
        st.info(_("The memory is empty. Turn on “Training run” in a setup of {learners}.", learners=learners))
        return
    with st.expander(_("Snapshots"), icon=":material/photo_camera:"):
        st.caption(_("A run sees the snapshot that its setup names. It never changes, whatever is learned afterwards."))
        name = st.text_input(_("Name of the memory as it is now"), key="snapshot-name", max_chars=60)
        if may(Access.RUN) and st.button(_("Take a snapshot"), key="snapshot-take", disabled=not name.strip()):
            with shown.errors_shown():
                house.knowledge.snapshots.take(name.strip())
        kept = house.knowledge.snapshots.all()
        rows = [(one.name, one.standards, one.directives, one.buffer, one.digest[:12]) for one in kept]
        shown.table(rows, ["Name", "Standards", "Micro-directives", "Buffer", "Digest"])
    if archived or directives:
        text = st.text_input(_("Search by facts"), placeholder=_("a quarrel at a barbecue stall"), key=f"recall-{part}")
        if text.strip():
            query = Recall(collection=part, text=text, tags=(), k=10, tau=0.4, seeds=5, hops=2)
            with shown.errors_shown():
                hits = house.runner.do(house.knowledge.answer(query)).result()
                titled = ((hit.record.get("title") or hit.record.get("text"), hit.parts) for hit in hits)
                found = [(title, of.score, of.iou, of.topo, of.semsim) for title, of in titled if of]
                shown.table(found, ["Found", "Score", "IoU", "Topo", "SemSim"])
    if archived:
        tau = st.slider(_("Link from a cosine of (τ)"), 0.0, 1.0, 0.4, 0.05)
        with shown.errors_shown():
            graph = house.runner.do(memory.graph(tau)).result()
            st.plotly_chart(draw_standards(graph, archived, shown.theme()), key="standards-graph")
    for number, standard in enumerate((*archived, *buffered)):
        if number == len(archived):
            st.subheader(_("Buffer"))
            st.caption(_("Trajectories that were wrong, or right without having been verified."))
        labels = ", ".join((*map(str, standard.gold.relevant_articles), *standard.gold.charges))
        with st.expander(f"{literal(standard.title or standard.id)} · {literal(labels)}"):
            shown.inert(standard.facts)
            shown.inert(standard.reasoning, small=True)
            shown.inert(_("Judgment: {verdict}", verdict=translated(str(standard.verdict))), small=True)
            if standard.induced:
                st.caption(_("Became part of {induced}", induced=literal(standard.induced)))
    for directive in sorted(directives, key=lambda one: -one.confidence):
        values = {"anchor": literal(directive.anchor), "charges": literal("; ".join(directive.charges))}
        values |= {"confidence": f"{directive.confidence:.2f}", "text": literal(directive.text[:90])}
        with st.expander(_("{confidence} · article {anchor} {charges} · {text}", **values)):
            shown.inert(directive.text)
            values |= {"supporting": f"{len(directive.supporting):d}", "id": literal(directive.id)}
            values["contrasting"] = f"{len(directive.contrasting):d}"
            st.caption(_("{supporting} supporting, {contrasting} contrasting · {id}", **values))
            life = house.knowledge.lessons.of(directive.id)
            if st.toggle(_("Its life"), key=f"life-{directive.id}"):
                st.plotly_chart(draw_confidence(directive.id, life, shown.theme()), key=f"confidence-{directive.id}")
                for taught in life:
                    undone = _(" (undone)") if taught.undone else ""
                    told = {"phase": translated(taught.phase), "why": translated(taught.why), "undone": undone}
                    told["run"] = taught.run or _("by hand")
                    shown.inert(_("• {phase}{undone}: {why} Run {run}.", **told), small=True)


LESSONS_A_PAGE = 25
LONGEST = 60
PHASES = {
    "norms": "Norms distilled",
    "archive": "Standard archived",
    "buffer": "Kept in the buffer",
    "induction": "Directive induced",
    "refinement": "Directive refined",
    "confidence": "Confidence moved",
    "merge": "Directives merged",
    "pruning": "Directives pruned",
    "restore": "Memory brought back to a snapshot",
}


def lessons_view(house: Courthouse) -> None:
    for procedure, source in house.teaching:
        parts = house.read(source)
        with st.expander(f"{literal(source.title)}: {len(parts)} {literal(source.parts)}"):
            st.caption(literal(source.help))
            models = {}
            for role in procedure.roles:
                title, key = _("Model of {title}", title=literal(role.title)), f"{procedure.name}_{role.name}"
                models[role.name] = st.text_input(title, OFFLINE, key=key, help=literal(role.help))
            if st.button(_("Build from {parts}", parts=len(parts)), disabled=not parts):
                start_with_models(house, procedure, source.batch(parts), models)
    st.subheader(_("Steps of learning"))
    lessons, damaged = house.knowledge.lessons.every()
    shown.unreadable_rows(damaged)
    if not lessons:
        st.info(_("Nothing has been learned yet. Norms are distilled from precedents of disputes."))
        return
    titles = {phase: translated(title) for phase, title in PHASES.items()}
    phases = st.multiselect(_("Show"), list(titles), format_func=titles.__getitem__, placeholder=_("all steps"))
    fitting = [taught for taught in reversed(lessons) if not phases or taught.phase in phases]
    first = shown.first_of_page(len(fitting), LESSONS_A_PAGE)
    for taught in fitting[first : first + LESSONS_A_PAGE]:
        what = literal(_name(taught.changes[0])) if taught.changes else _("nothing changed")
        told = f"{what} · {literal(taught.why)} · {moment(taught.at)}" + (_(" · undone") if taught.undone else "")
        with st.expander(f"**{translated(PHASES[taught.phase])}** · {told}"):
            for change in taught.changes:
                before, after = change.before or {}, change.after or {}
                st.caption(f"{literal(change.collection)} · {literal(_name(change))} · {literal(change.id)}")
                if before.get("confidence") != after.get("confidence"):
                    was, now = before.get("confidence", _("none")), after.get("confidence", _("gone"))
                    shown.inert(_("Confidence {before} → {after}", before=was, after=now), small=True)
                texts = [str(r.get("text") or r.get("norms") or r.get("reasoning") or "") for r in (before, after)]
                if any(kind != "same" for kind, _part in changes(*texts)):
                    st.html(diff_html(*texts))
            with st.container(horizontal=True, vertical_alignment="center"):
                if taught.run:
                    st.link_button(_("Open the run"), f"/deliberation?run={taught.run}")
                can, key = may(Access.OWN) and taught.undone is None, f"undo-{taught.seq}"
                if can and st.button(_("Undo this step"), key=key, icon=":material/undo:"):
                    shown.do(partial(house.knowledge.lessons.undo, taught.seq))


def _name(change: RecordChange) -> str:
    record = change.after or change.before or {}
    name = str(record.get("title") or record.get("text") or change.id)
    return name if len(name) <= LONGEST else f"{name[:LONGEST]}..."


PARTS = {
    "disputes": "Precedents of disputes",
    "statutes": "Statutes",
    "charges": "Charges",
    "cases": "Criminal precedents",
    "standards": "Standards",
    "directives": "Micro-directives",
    "learning": "Learning",
}

house = courthouse()
st.title(_("Knowledge"))
wanted = st.query_params.get("part")
first = wanted if wanted in PARTS else "disputes"
part = shown.one_of(_("Part"), list(PARTS), "knowledge_part", first, lambda part: translated(PARTS[part]))
st.query_params["part"] = part
if part == "disputes":
    precedents_view(house)
elif part == "learning":
    lessons_view(house)
elif part in ("standards", "directives"):
    memory_view(house, part)
else:
    import_view(house, part)
    collection_view(house, part)
