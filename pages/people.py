"""People: who has signed in here, what each may do and spend, and who did what. For the owners of the server."""

from datetime import UTC, datetime, time, timedelta

import streamlit as st

from courtroom.access import Access, acting_account
from courtroom.language import N_, _, translated
from courtroom.sharing import ACTIONS, ActionFilter, ActionLog
from pages.parts.shared.house import courthouse, in_words
from pages.parts.shared.share_view import download
from pages.parts.shared.shown import errors_shown, first_of_page, inert, literal, moment, table

WIDTHS = (3, 2, 2, 2, 1)
PAGE = 100
ACTION_WORDS = {
    "sign-in": N_("signed in"),
    "give-access": N_("gave access or a budget"),
    "make": N_("made"),
    "import": N_("imported"),
    "fork": N_("forked"),
    "start": N_("started"),
    "pause": N_("paused"),
    "stop": N_("stopped"),
    "intervene": N_("intervened"),
    "undo": N_("undid an intervention"),
    "change": N_("changed"),
    "mark": N_("marked"),
    "ask": N_("asked a question outside the run"),
    "invite": N_("made a link to a seat or an audience"),
    "delete": N_("deleted"),
    "restore": N_("restored"),
    "share": N_("said who sees it"),
    "link": N_("made a read-only link"),
    "end-link": N_("ended a link"),
    "download": N_("downloaded"),
}

house = courthouse()
st.title(_("People"))
st.caption(_("Everybody who has signed in, what each may do and spend, and who did what."))
me = acting_account()
for account in house.accounts.all():
    with st.container(border=True):
        who, access, budget, seen, save = st.columns(WIDTHS, vertical_alignment="bottom")
        with who:
            st.markdown(f"**{literal(account.called)}**")
            inert(account.email, small=True, faint=True)
        levels, about = list(Access), _("Nobody changes their own access.")
        mine, key = me is not None and account.id == me.id, f"access-{account.id}"
        place = levels.index(account.access)
        given = access.selectbox(_("May do"), levels, place, format_func=in_words, key=key, help=about, disabled=mine)
        title, no_limit, key = _("US$ a month"), _("no limit"), f"budget-{account.id}"
        allowed = budget.number_input(title, 0.0, None, account.budget, placeholder=no_limit, key=key)
        day = datetime.fromtimestamp(account.last).strftime("%Y-%m-%d")
        spent = house.accounts.spent(account.id)
        told = {"spent": f"{spent.money:,.2f}", "day": literal(day)}
        in_month = _("US$ {spent} this month, last here on {day}", **told)
        seen.caption(_("about {number}", number=in_month) if spent.estimated else in_month)
        if save.button(_("Save"), key=f"save-{account.id}", width="stretch"):
            with errors_shown():
                if given != account.access:
                    house.accounts.give(account.id, given)
                if allowed != account.budget:
                    house.accounts.allow(account.id, allowed)
                st.rerun()
log = ActionLog(house.database)
st.subheader(_("Who did what"))
who, what, first, last = st.columns(4)
names = {"": _("Anybody"), **log.people()}
actions: dict[str, str] = {"": _("Anything"), **{one: translated(ACTION_WORDS[one]) for one in ACTIONS}}
since, until = first.date_input(_("From"), None), last.date_input(_("To"), None)
wanted = ActionFilter(
    account=who.selectbox(_("Who"), list(names), format_func=names.__getitem__),
    action=what.selectbox(_("What"), list(actions), format_func=actions.__getitem__),
    since=datetime.combine(since, time(), UTC).timestamp() if since else 0.0,
    until=(datetime.combine(until, time(), UTC) + timedelta(days=1)).timestamp() if until else 0.0,
)
if not (total := log.count(wanted)):
    st.info(_("Nobody has done anything that fits."), icon=":material/filter_alt_off:")
    st.stop()
with st.container(horizontal=True, vertical_alignment="bottom"):
    first_line = first_of_page(total, PAGE)
    download(house, _("CSV"), lambda: log.csv(wanted), "actions.csv", key="actions-csv")
rows = []
for one in log.page(wanted, first_line, PAGE):
    done = translated(ACTION_WORDS.get(one.action, one.action))
    rows.append((moment(one.at), one.name or one.account, done, f"{translated(one.kind)} {one.id}".strip(), one.detail))
table(rows, [N_("when"), N_("who"), N_("what"), N_("on what"), N_("more")])
