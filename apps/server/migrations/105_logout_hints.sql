-- Owner: sso. The ID token of a session, sealed. Providers such as Okta want it back (`id_token_hint`) when the person signs
-- out. Null for other protocols, and for a token that is too long for an address.
alter table sso_sessions add column logout_hint bytea;
