"""The models that can be reached now: asked of real servers, and chosen on the Setup page."""

import pytest
from streamlit.testing.v1 import AppTest

from courtroom.courthouse import Courthouse
from courtroom.models import local
from courtroom.models.connections import Connection, Connections
from courtroom.models.offers import Offer, offers
from courtroom.models.providers import PROVIDERS
from tests.openai_server import OpenAIServer
from tests.pages import house, page

__all__ = ["house"]  # a fixture

OURS = {name for provider in PROVIDERS.values() for name in (*provider.keys, *provider.addresses)}


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "PACKAGES", ())
    for name in OURS:
        monkeypatch.delenv(name, raising=False)


def lab(server: OpenAIServer, key: str = "sk-of-the-lab") -> Connections:
    return Connections(
        {"lab": Connection.model_validate({"provider": "hosted_vllm", "address": server.url, "key": key})}
    )


def test_a_connections_own_list_is_offered_and_its_key_goes_there_alone() -> None:
    with OpenAIServer() as server, OpenAIServer() as other:
        found = offers(lab(server), {}, {"OPENAI_API_BASE": other.url, "OPENAI_API_KEY": "sk-openai"})
        keys = [{headers.get("Authorization") for headers in one.listed} for one in (server, other)]
    assert Offer(id="hosted_vllm/any", connection="lab") in found
    assert Offer(id="openai/any") in found
    assert keys == [{"Bearer sk-of-the-lab"}, {"Bearer sk-openai"}]


def test_a_provider_whose_key_is_set_offers_what_its_cards_say() -> None:
    found = {offer.id: offer for offer in offers(Connections(), {"OPENAI_API_KEY": "sk-typed"}, {})}
    known = found["openai/gpt-4o-mini"]
    assert known.facts() == "US$ 0.15 / 0.6 a million tokens · 128,000 tokens of context · pictures · JSON schema"
    assert not any(offer.startswith("anthropic/") for offer in found)
    assert not offers(Connections(), {}, {})


@pytest.mark.parametrize(
    "listing", [b"[]", b"[" * 100_000, b'{"data": 5}', b'{"data": [{"id": "../../x y"}]}', b"x" * 3_000_000]
)
def test_a_server_that_lists_nonsense_offers_nothing(listing: bytes) -> None:
    with OpenAIServer(listing=listing) as server:
        assert offers(lab(server), {}, {}) == ()


def test_a_listing_that_redirects_is_not_followed() -> None:
    with OpenAIServer() as other, OpenAIServer(listing=other.url) as server:
        assert offers(lab(server), {}, {}) == ()
        assert not other.listed


def test_a_model_is_picked_from_a_connections_list(house: Courthouse) -> None:
    with OpenAIServer() as server:
        house.__dict__["connections"] = lab(server)
        app = setup_page()
        (picker,) = [box for box in app.selectbox if box.label == "Model"]
        assert "hosted_vllm/any @ lab" in picker.options
        picker.select("hosted_vllm/any @ lab").run()
        assert not app.exception
        model = app.session_state["drafts"]["cyberjurors"].values["model"]
    assert (model["id"], model["connection"]) == ("hosted_vllm/any", "lab")


def test_each_seat_gets_a_model_of_its_own_in_one_choice(house: Courthouse) -> None:
    with OpenAIServer() as server:
        house.__dict__["connections"] = lab(server)
        app = setup_page()
        (several,) = [box for box in app.multiselect if box.label == "Models, in turn"]
        several.select("offline").select("hosted_vllm/any @ lab").run()
        next(button for button in app.button if button.label == "Give them out").click().run()
        assert not app.exception
        members = app.session_state["drafts"]["cyberjurors"].values["members"]
    assert members["juror-01"]["id"] == members["juror-03"]["id"] == "offline"
    assert (members["juror-02"]["id"], members["juror-02"]["connection"]) == ("hosted_vllm/any", "lab")
    assert len(members) == 18


def setup_page() -> AppTest:
    """The Setup page with its section on models open."""
    return page("setup", {"setup_section": "Models"})
