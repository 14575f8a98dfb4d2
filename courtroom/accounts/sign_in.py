"""Whether people sign in here, as the settings and Streamlit's secrets say it."""

from collections.abc import Mapping
from typing import Any

from courtroom.errors import CourtroomError
from courtroom.settings import Settings

SHORTEST_SECRET = 32
OF_A_PROVIDER = ("client_id", "client_secret", "server_metadata_url")


def signs_in(settings: Settings, auth: Mapping[str, Any] | None) -> bool:
    """Whether people sign in here: the provider (`[auth]` of Streamlit's secrets) and the owners are both set, or neither is; else nobody comes in."""
    if auth is None:
        for name in ("owners", "newcomers"):
            if name in settings.model_fields_set:
                raise CourtroomError(
                    f"COURTROOM_{name.upper()} is set, but Streamlit's secrets have no part [auth], so nobody could sign in. "
                    "Add it as docs/server.md shows, or unset the variable."
                )
        return False
    if not settings.owners.strip(" ,"):
        raise CourtroomError(
            "Streamlit's secrets have a part [auth], but nobody owns this server. Set COURTROOM_OWNERS to your e-mail address, "
            "or take the part out."
        )
    missing = [name for name in ("redirect_uri", "cookie_secret") if not auth.get(name)]
    for provider in providers(auth):
        missing += [name for name in OF_A_PROVIDER if not (auth[provider] if provider else auth).get(name)]
    if missing:
        raise CourtroomError(f"The part [auth] of Streamlit's secrets lacks {', '.join(missing)}. Add what is missing.")
    if len(str(auth["cookie_secret"])) < SHORTEST_SECRET:
        raise CourtroomError(
            f"The cookie_secret of [auth] needs at least {SHORTEST_SECRET} characters. Make one with `openssl rand -hex 32`."
        )
    return True


def providers(auth: Mapping[str, Any]) -> tuple[str, ...]:
    """The providers of the part `[auth]` by their names; one without a name is the empty text."""
    named = tuple(
        name for name, value in auth.items() if isinstance(value, Mapping) and set(OF_A_PROVIDER) & value.keys()
    )
    return named or ("",)
