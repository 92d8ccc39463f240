"""Goes through the flows of OAuth with Authlib, and prints what it got. Its HTTP is that of Python alone."""

import json
import sys
import urllib.error
import urllib.parse
import urllib.request

from authlib.common.security import generate_token
from authlib.oauth2.auth import ClientAuth, TokenAuth
from authlib.oauth2.client import OAuth2Client

issuer, client_id, client_secret, device_code = sys.argv[1:5]
REDIRECT = "https://client.test/cb"


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


client = OAuth2Client(
    Session(),
    client_id=client_id,
    client_secret=client_secret,
    token_endpoint_auth_method="client_secret_basic",
    redirect_uri=REDIRECT,
    scope="calendar:read mail:read",
    code_challenge_method="S256",
)
client.client_auth_class = ClientAuth
client.token_auth_class = TokenAuth

metadata = send("GET", issuer + "/.well-known/oauth-authorization-server").json()
token_endpoint = metadata["token_endpoint"]
verifier = generate_token(48)
link, state = client.create_authorization_url(metadata["authorization_endpoint"], code_verifier=verifier)
back = send("GET", link).headers["location"]
first = dict(client.fetch_token(token_endpoint, authorization_response=back, state=state, code_verifier=verifier))
second = dict(client.refresh_token(token_endpoint, refresh_token=first["refresh_token"], scope="mail:read"))
told = client.introspect_token(metadata["introspection_endpoint"], token=second["access_token"]).json()
ended = client.revoke_token(metadata["revocation_endpoint"], token=second["access_token"]).status_code
after = client.introspect_token(metadata["introspection_endpoint"], token=second["access_token"]).json()
device = dict(
    client.fetch_token(
        token_endpoint, grant_type="urn:ietf:params:oauth:grant-type:device_code", device_code=device_code
    )
)
try:
    client.fetch_token(token_endpoint, grant_type="authorization_code", code="x" * 43, code_verifier=verifier)
    refused = None
except Exception as refusal:
    refused = refusal.error

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
        }
    )
)
