"""Offline verification."""

from __future__ import annotations

from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from behest import BehestError, BehestNetworkError, BehestTokenError, Verifier

from .issuer import AUDIENCE, DID, ISSUER, Issuer


@pytest.fixture
def issuer() -> Issuer:
    return Issuer()


def reason(verifier: Verifier, token: Any) -> str:
    try:
        verifier.verify(token)
    except BehestTokenError as error:
        return error.reason
    return "taken"


def test_a_good_token_has_its_facts(issuer: Issuer) -> None:
    grant = issuer.verifier().verify(issuer.token())

    facts = (grant.principal_id, grant.grant_id, grant.agent_did, grant.scopes, grant.audience, grant.issuer)
    assert facts == ("user_42", "grnt_1", DID, ("calendar:read",), AUDIENCE, ISSUER)


def test_a_token_from_before_0_6_has_the_same_facts(issuer: Issuer) -> None:
    legacy = issuer.token("RS256", act=None, client_id=None, **{"urn:service:grant": None}, grnt="grnt_1", agt=DID)
    grant = issuer.verifier().verify(legacy)

    assert (grant.grant_id, grant.agent_did, grant.actor_chain) == ("grnt_1", DID, (DID,))


def test_each_fault_has_its_reason(issuer: Issuer) -> None:
    verifier, good = issuer.verifier(), issuer.token()
    stranger = jwt.encode(
        issuer.claims(), ec.generate_private_key(ec.SECP256R1()), "ES256", headers={"kid": issuer.kid, "typ": "at+jwt"}
    )
    unsigned = jwt.encode(issuer.claims(), "", "none")
    now = int(issuer.now)
    faults = {
        "malformed": [None, "", "a.b", good + "=", good.replace(".", "..", 1), issuer.token(exp=None), unsigned, "x" * 20_000],
        "alg_not_allowed": [jwt.encode(issuer.claims(), "s" * 32, "HS256")],
        "typ_not_allowed": [issuer.token(headers={"typ": "decision+jwt"})],
        "header_not_allowed": [issuer.token(headers={"jku": "https://evil.example"})],
        "key_not_found": [issuer.token(headers={"kid": "unknown"}), issuer.token(headers={"kid": "service-2025-01"})],
        "bad_signature": [stranger, good[:-6] + "AAAAAA"],
        "issuer_mismatch": [issuer.token(iss="https://evil.example")],
        "audience_mismatch": [issuer.token(aud="https://other.example"), issuer.token(aud=None)],
        "expired": [issuer.token(exp=now - 6)],
        "not_yet_valid": [issuer.token(nbf=now + 61), issuer.token(iat=now + 61)],
        "claims_missing": [issuer.token(sub=""), issuer.token(scp=None)],
        "claims_inconsistent": [issuer.token(grnt="grnt_2"), issuer.token(scope="a:b"), issuer.token(sandbox=False)],
        "developer_mismatch": [issuer.token(dev="dev_2", **{"urn:service:grant": None})],
        "sandbox_not_allowed": [issuer.token(sandbox=True)],
        "dpop_required": [issuer.token(cnf={"jkt": "thumbprint"})],
    }

    assert reason(verifier, good) == "taken"
    assert reason(verifier, issuer.token(exp=now - 4)) == "taken"
    assert reason(issuer.verifier(allow_sandbox=True), issuer.token(sandbox=True)) == "taken"
    for wanted, tokens in faults.items():
        assert [reason(verifier, token) for token in tokens] == [wanted] * len(tokens)


def test_keys_are_fetched_once_and_an_outage_is_no_bad_token(issuer: Issuer) -> None:
    verifier = issuer.verifier()
    token = issuer.token()
    assert [reason(verifier, token), reason(verifier, token), issuer.asked] == ["taken", "taken", 1]

    issuer.is_down = True
    issuer.now += 601  # the keys are old, and serve
    assert reason(verifier, issuer.token()) == "taken"
    with pytest.raises(BehestNetworkError):
        issuer.verifier().verify(token)


def test_old_keys_serve_for_a_day_of_an_outage_and_no_longer(issuer: Issuer) -> None:
    verifier = issuer.verifier()
    assert reason(verifier, issuer.token()) == "taken"

    issuer.is_down = True
    issuer.now += 600 + 86_399
    assert reason(verifier, issuer.token()) == "taken"
    for seconds in (2, 5, 40):  # within thirty seconds of an attempt too
        issuer.now += seconds
        with pytest.raises(BehestNetworkError):
            verifier.verify(issuer.token())


def test_a_new_key_is_asked_for_once_in_thirty_seconds(issuer: Issuer) -> None:
    verifier = issuer.verifier()
    assert reason(verifier, issuer.token()) == "taken"
    issuer.now += 31
    issuer.kid = "service-es256-two"

    assert [reason(verifier, issuer.token()), issuer.asked] == ["taken", 2]
    unknown = [reason(verifier, issuer.token(headers={"kid": f"unknown{at}"})) for at in range(5)]
    assert [set(unknown), issuer.asked] == [{"key_not_found"}, 2]


def test_settings_that_no_verifier_can_have_are_refused() -> None:
    uri = f"{ISSUER}/.well-known/jwks.json"
    for options in ({"developer_id": ""}, {"developer_id": []}, {"developer_id": "dev_1", "clock_tolerance": 61}):
        with pytest.raises(BehestError):
            Verifier(jwks_uri=uri, **options)  # type: ignore[arg-type]
    with pytest.raises(BehestError, match="https"):
        Verifier(jwks_uri="http://auth.example.test/keys", developer_id="dev_1")
