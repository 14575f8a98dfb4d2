"""The follow-graph: its kind and density, a preview, and its edges."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from courtroom.cases.case import Case
from courtroom.engine.blocks import Edge, Graph, Node
from courtroom.engine.knobs import Widget
from courtroom.engine.procedure import Procedure
from courtroom.figures.graph import draw_graph
from courtroom.language import _
from courtroom.panel.follow_graph import FollowGraph, influence
from pages.parts.shared.draft import SetupDraft
from pages.parts.shared.knobs import knob


def graph_editor(draft: SetupDraft, procedure: Procedure, case: Case) -> None:
    """Kind, density and seed on the left; the picture on the right; the edges below."""
    graph = draft.values[draft.drawn[Widget.GRAPH]]
    left, right = st.columns([1, 2], gap="large")
    with left:
        before = {name: graph[name] for name in ("kind", "density", "seed")}
        for name in before:
            graph[name] = knob(FollowGraph.model_fields[name], graph[name], draft.key(f"graph-{name}"))
        if any(graph[name] != value for name, value in before.items()):
            graph["edges"] = None
        if graph["edges"] is not None:
            st.caption(_("The edges were edited by hand."))
            if st.button(_("Back to those drawn"), icon=":material/restart_alt:"):
                graph["edges"] = None
                draft.version += 1
                st.rerun()
    try:
        complete = draft.complete(case)
    except ValueError:
        right.caption(_("Mend the setup first."))
        return
    names = [persona["name"] for persona in complete[draft.drawn[Widget.PERSONAS]]]
    edges = [(int(k), int(j)) for k, j in complete[draft.drawn[Widget.GRAPH]]["edges"]]
    rank = influence(len(names), edges)
    block = Graph(
        tuple(Node(str(seat), name, None, rank[seat]) for seat, name in enumerate(names)),
        tuple(Edge(str(k), str(j)) for k, j in edges),
    )
    with right:
        st.plotly_chart(
            draw_graph(block, procedure.choices, st.context.theme.type or "light"), key=draft.key("preview")
        )
        st.caption(_("Arrows go from a juror to those it follows; the more a juror is followed, the larger it is."))
    with st.expander(_("Edges ({edges})", edges=len(edges)), icon=":material/edit:"):
        seats = [f"{seat + 1} {name}" for seat, name in enumerate(names)]
        table = pd.DataFrame([(seats[k], seats[j]) for k, j in edges], columns=["follower", "followed"])
        choice = st.column_config.SelectboxColumn(options=seats, required=True)
        edited = st.data_editor(
            table, num_rows="dynamic", key=draft.key(f"edges-{len(names)}"), hide_index=True, width="stretch",
            column_config={"follower": choice, "followed": choice},
        )  # fmt: skip
        pairs = [(seats.index(k), seats.index(j)) for k, j in edited.dropna().itertuples(index=False) if k != j]
        if sorted(set(pairs)) != sorted(edges):
            graph["edges"] = [list(pair) for pair in sorted(set(pairs))]
