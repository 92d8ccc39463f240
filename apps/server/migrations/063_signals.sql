-- Owner: grants. Grants that ended on the word of the identity provider by which they were given.
alter type revoked_reason add value if not exists 'idp_signal';

-- Owner: sso. The provider's own name of a session, by which it can end that one alone.
alter table sso_sessions add column idp_session text;
-- The session that a provider names in a signal.
create index sso_sessions_idp on sso_sessions (developer_id, connection_id, idp_session) where idp_session is not null;
-- The sessions of a subject whom a provider names in a signal.
create index sso_sessions_subject on sso_sessions (developer_id, connection_id, subject);

-- Owner: scim. The connection whose signal made a user inactive, until anybody else writes the user.
alter table scim_users add column disabled_by text;

-- Owner: signals. The transmitter of each connection that may tell of its people. Its secret is stored as its SHA-256.
create table signal_sources (
  developer_id       text not null,
  connection_id      text not null,
  transmitter        text not null,
  jwks_uri           text not null,
  audience           text not null,
  tenant             text,
  requires_header    boolean not null,
  on_session_revoked text not null,
  secret_hash        bytea not null,
  last_signal_at     timestamptz,
  verified_at        timestamptz,
  created_at         timestamptz not null,
  updated_at         timestamptz not null,
  primary key (developer_id, connection_id),
  foreign key (developer_id, connection_id) references sso_connections on delete cascade
);

-- A signal that arrives, which names its connection alone.
create index signal_sources_connection on signal_sources (connection_id);

-- Owner: signals. Signals that were taken, for eight days, so that none has an effect twice.
create table signal_receipts (
  developer_id  text not null,
  connection_id text not null,
  jti           text not null,
  received_at   timestamptz not null,
  primary key (developer_id, connection_id, jti),
  foreign key (developer_id, connection_id) references signal_sources on delete cascade
);
-- Receipts that are old enough to be forgotten.
create index signal_receipts_received on signal_receipts (developer_id, received_at);
