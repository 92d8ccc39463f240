"""Goes through the flows of OAuth with Authlib, and prints what it got. Its HTTP is that of Python alone."""

import json
import sys
import urllib.error
import urllib.parse
import urllib.request

from authlib.common.security import generate_token
from authlib.oauth2.auth import ClientAuth, TokenAuth
from authlib.oauth2.client import OAuth2Client
from authlib.oauth2.rfc7523 import PrivateKeyJWT, private_key_jwt_sign
from joserfc.jwk import ECKey

given = json.loads(sys.argv[1])
issuer = given["issuer"]
REDIRECT = "https://client.test/cb"
GRANT = "urn:ietf:params:oauth:grant-type:"


class Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


opener = urllib.request.build_opener(Stay)


class Answer:
    def __init__(self, answer):
        self.status_code = answer.status
        self.headers = answer.headers
        self.text = answer.read().decode()

    def json(self):
        return json.loads(self.text)

    def raise_for_status(self):
        if self.status_code >= 500:
            raise RuntimeError(self.text)


def send(method, url, body=None, headers=None):
    data = None if body is None else body.encode()
    request = urllib.request.Request(url, data=data, headers=headers or {}, method=method)
    try:
        return Answer(opener.open(request))
    except urllib.error.HTTPError as refusal:
        return Answer(refusal)


class Session:
    """The part of a session of `requests` that Authlib uses."""

    def post(self, url, data=None, headers=None, auth=None, **_):
        body = urllib.parse.urlencode(data or {})
        headers = dict(headers or {})
        if auth is not None:
            url, headers, body = auth.prepare("POST", url, headers, body)
        return send("POST", url, body, headers)


class MinuteJWT(PrivateKeyJWT):
    """Authlib's own assertion lasts for an hour; the service takes those of five minutes."""

    def sign(self, auth, token_endpoint):
        return private_key_jwt_sign(
            auth.client_secret, auth.client_id, token_endpoint, alg="ES256", expires_in=60
        )


def new_client(client_id, client_secret, method="client_secret_basic"):
    client = OAuth2Client(
        Session(),
        client_id=client_id,
        client_secret=client_secret,
        token_endpoint_auth_method=method,
        revocation_endpoint_auth_method=method,
        redirect_uri=REDIRECT,
        scope="calendar:read mail:read",
        code_challenge_method="S256",
    )
    client.client_auth_class = ClientAuth
    client.token_auth_class = TokenAuth
    return client


metadata = send("GET", issuer + "/.well-known/oauth-authorization-server").json()
token_endpoint = metadata["token_endpoint"]
verifier = generate_token(48)


def by_code(client, **parameters):
    link, state = client.create_authorization_url(
        metadata["authorization_endpoint"], code_verifier=verifier, **parameters
    )
    back = send("GET", link).headers["location"]
    return dict(
        client.fetch_token(token_endpoint, authorization_response=back, state=state, code_verifier=verifier)
    )


def refusal_of(client, **parameters):
    try:
        client.fetch_token(token_endpoint, **parameters)
        return None
    except Exception as refusal:
        return refusal.error


client = new_client(given["clientId"], given["clientSecret"])
first = by_code(client)
second = dict(client.refresh_token(token_endpoint, refresh_token=first["refresh_token"], scope="mail:read"))
told = client.introspect_token(metadata["introspection_endpoint"], token=second["access_token"]).json()
ended = client.revoke_token(metadata["revocation_endpoint"], token=second["access_token"]).status_code
after = client.introspect_token(metadata["introspection_endpoint"], token=second["access_token"]).json()
device = dict(
    client.fetch_token(token_endpoint, grant_type=GRANT + "device_code", device_code=given["deviceCode"])
)
refused = refusal_of(client, grant_type="authorization_code", code="x" * 43, code_verifier=verifier)

details = [{"type": "urn:service:tools:v1", "connector": "crm", "tools": ["lookup"]}]
detailed = by_code(client, authorization_details=json.dumps(details))

key = ECKey.import_key(given["key"])
signing = new_client(given["signingId"], key, "private_key_jwt")
signing.register_client_auth_method(MinuteJWT(token_endpoint))
signed = by_code(signing)
part = dict(
    signing.fetch_token(
        token_endpoint,
        grant_type=GRANT + "token-exchange",
        subject_token=detailed["access_token"],
        subject_token_type="urn:ietf:params:oauth:token-type:access_token",
        scope="mail:read",
    )
)
signing.register_client_auth_method(PrivateKeyJWT(token_endpoint, alg="ES256"))
hour = refusal_of(signing, grant_type="refresh_token", refresh_token=signed["refresh_token"])

receiver = new_client(given["receiverId"], given["receiverSecret"])
own = dict(receiver.fetch_token(token_endpoint, grant_type="client_credentials", scope="ssf.read"))

trusted = new_client(given["trustedId"], given["trustedSecret"])
asserted = dict(
    trusted.fetch_token(token_endpoint, grant_type=GRANT + "jwt-bearer", assertion=given["assertion"])
)

print(
    json.dumps(
        {
            "first": first["scope"],
            "second": second["scope"],
            "told": told["active"],
            "ended": ended,
            "after": after,
            "device": device["scope"],
            "refused": refused,
            "detailed": detailed["authorization_details"] == details,
            "signed": signed["scope"],
            "part": part["scope"],
            "hour": hour,
            "own": own["scope"],
            "asserted": asserted["scope"],
        }
    )
)
