"""The knobs of VERDICT, with the paper's defaults where it gives any (appendix C; ablations: table 3)."""

from typing import Literal

from pydantic import Field

from courtroom.declarations.knobs import Few, Group, Share, knob, knowledge_base
from courtroom.declarations.setup import Member, Setup
from courtroom.knowledge.bases import BaseName
from courtroom.knowledge.embedding import DEFAULT
from courtroom.knowledge.memory import Weights
from courtroom.models.spec import ModelSpec
from courtroom.strict import Strict

Variant = Literal["verdict", "no-memory", "no-directives", "no-agents"]

TITLES = {
    "clerk": "Court Clerk",
    "assistant": "Judicial Assistant",
    "judge": "Case-handling Judge",
    "supervisor": "Adjudication Supervisor",
    "presiding": "Presiding Judge",
    "meta": "Meta-model",
}


class Learning(Strict):
    """When the memory learns, and how fast (section 3.4.2). Where no source is named, the paper gives no value."""

    on: bool = knob(
        False,
        "Training run",
        "A training run teaches the memory, where the real judgment is known. Other runs and all forks leave it "
        "as it is.",
    )
    terms: bool = knob(
        True,
        "The term must be right too",
        "A case is archived only where its term falls into the real one's class (equation 7). Off: articles and "
        "charges alone must be right, and the real term is kept.",
    )
    batch: int = knob(3, "New standards for a directive (B)", "Of one label, for phase A.", ge=2, le=50)
    divergence: Share = knob(
        0.7,
        "Divergence",
        "Phase B contrasts a correct and an incorrect trajectory of one label when the cosine of their reasoning "
        "is below this.",
        set_for=DEFAULT,
    )
    start: Share = knob(0.5, "First confidence", "Of a directive that was just induced.")
    reward: Share = knob(0.1, "Confidence up by", "When a verified and right judgment has the directive's article.")
    decay: Share = knob(
        0.1,
        "Confidence down by",
        "When a rejected draft or a wrong judgment has the directive's article, and the real one has not.",
    )
    alike: Share = knob(
        0.6, "Merge from a cosine of", "Of two directives with one anchor and the same charges.", set_for=DEFAULT
    )
    most: float = knob(
        1.0, "Highest confidence (τ_max)", "Of every directive; merged ones are clipped here (equation 8).", gt=0, le=1
    )
    prune: Share = knob(0.3, "Prune below", "The paper's threshold (appendix C).")


def as_in_the_paper() -> ModelSpec:
    """The default model, asked as in the paper (appendix C)."""
    return ModelSpec(temperature=0, top_p=0.9)


class VerdictSetup(Setup):
    """Who sits on the panel, what it looks up and remembers, and how it learns."""

    model: ModelSpec = Field(default_factory=as_in_the_paper, title="Model")
    variant: Variant = knob(
        "verdict",
        "Variant",
        "`verdict` is the whole system; `no-memory` has no standards and directives; `no-directives` has "
        "standards alone; `no-agents` has one judge, with statutes and memory. Another expert is set as the model of the "
        "role “judge”.",
        Group.WHO,
        first=True,
        labels={"verdict": "the whole system"},
    )
    base: BaseName = knowledge_base("In which statutes are looked up: `bundled`, or the name of one that was imported.")
    statutes: int = knob(20, "Statutes in the coarse set (K)", "The paper gives no value.", Group.LOOK, ge=1, le=100)
    ranking: Literal["dense", "hybrid"] = knob(
        "hybrid", "Statutes ranked", "`hybrid`: dense and BM25, fused; or `dense` alone, as in the paper.", Group.LOOK
    )
    shortlist: int = knob(5, "Statutes on the shortlist, about", "The paper's prompt 2.", Group.LOOK, ge=1, le=12)
    turns: Few = knob(
        3,
        "Turns at most (T_max)",
        "A turn is a draft and its verification. Three in the paper (appendix C).",
        first=True,
    )
    reasons_first: bool = knob(
        False,
        "Reasons before decisions",
        "The paper's judge and supervisor name the article, or pass and reject, before they give a reason. Turn "
        "on to ask for the reason first.",
        first=True,
    )
    fuller: bool = knob(
        False,
        "Fuller judgment",
        "The presiding judge may also suspend the term, set a fine, exempt or acquit. It is shown and not scored: no record has "
        "it. Off, as in the paper: articles, charges and term alone.",
    )
    memory: str = knob(
        "",
        "Memory snapshot",
        "The snapshot of the memory that the run sees, by its name; empty: the memory as it is when the run "
        "first looks, frozen. `empty` is the one in which nothing was learned.",
        Group.LOOK,
        varied=False,
        first=True,
        max_length=60,
    )
    precedents: int = knob(
        3, "Standards recalled", "Three in the paper (appendix C).", Group.LOOK, first=True, ge=0, le=20
    )
    directives: int = knob(3, "Directives recalled", "Three in the paper (appendix C).", Group.LOOK, ge=0, le=20)
    alpha: Share = knob(0.4, "Weight of the overlap (α)", "Of statutes and charges (appendix C).", Group.LOOK)
    beta: Share = knob(0.3, "Weight of the graph (β)", "Of what is activated (appendix C).", Group.LOOK)
    gamma: Share = knob(0.3, "Weight of the facts (γ)", "Of semantic similarity (appendix C).", Group.LOOK)
    tau: float = knob(
        0.4,
        "Link standards from a cosine of (τ)",
        "With identical labels. The paper gives no value; −1 links by labels alone, as its appendix D says.",
        Group.LOOK,
        set_for=DEFAULT,
        ge=-1,
        le=1,
    )
    topo: Literal["share", "count"] = knob(
        "share",
        "Activated neighbours",
        "`count` as in the paper (equation 10), or their `share` of all that is activated: 0 to 1, as the other parts "
        "of the score.",
        Group.LOOK,
    )
    seeds: int = knob(
        5, "Seeds (K)", "Closest standards, where activation starts. The paper gives no value.", Group.LOOK, ge=1, le=50
    )
    hops: int = knob(2, "Hops (k)", "How far activation spreads. The paper gives no value.", Group.LOOK, ge=0, le=5)
    learning: Learning = knob(Learning(), "Learning", varied=False)

    @property
    def alone(self) -> bool:
        return self.variant == "no-agents"

    @property
    def remembers(self) -> bool:
        return self.variant != "no-memory"

    @property
    def directs(self) -> bool:
        return self.variant in ("verdict", "no-agents")

    @property
    def learns(self) -> bool:
        """Whether the memory is taught: it takes a memory, and a supervisor who verifies what is learned."""
        return self.learning.on and self.can_learn

    @property
    def can_learn(self) -> bool:
        return self.remembers and not self.alone

    @property
    def weights(self) -> Weights:
        return self.alpha, self.beta, self.gamma


def members(setup: VerdictSetup) -> tuple[Member, ...]:
    roles = ["presiding"] if setup.alone else [role for role in TITLES if role != "meta"]
    if setup.learns:
        roles.append("meta")
    return tuple(Member(id=role, role=role, name=TITLES[role], spec=setup.spec(role, role)) for role in roles)
