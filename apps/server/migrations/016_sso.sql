-- Owner: sso. Identity providers of a developer's customers. `settings` holds what is not secret; the client secret or
-- bind password is sealed under the row's own data key. `version` grows with each change that a login under way has to
-- notice.
create type sso_protocol as enum ('oidc', 'saml', 'ldap');
create type sso_status as enum ('active', 'inactive', 'testing');
create table sso_connections (
  developer_id   text not null references developers,
  id             text not null,
  name           text not null,
  protocol       sso_protocol not null,
  status         sso_status not null,
  settings       json not null,
  domains        text[] not null,
  enforce        boolean not null,
  is_default     boolean not null,
  data_key       text,
  secret         text,
  version        integer not null,
  last_tested_at timestamptz,
  last_login_at  timestamptz,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  -- The vault key that seals the data key of a connection, so that a rotation finds the rows of former keys.
  key_id         text,
  primary key (developer_id, id)
);
-- The single configuration of older clients.
create unique index sso_connections_default on sso_connections (developer_id) where is_default;
-- The connections that a key seals.
create index sso_connections_keys on sso_connections (key_id, developer_id, id) where key_id is not null;
-- Metadata of a service provider, which are asked for by the id of a connection alone.
create index sso_connections_id on sso_connections (id);

-- Owner: sso. The domains of connections that are not inactive: a developer has each on one of them.
create table sso_connection_domains (
  developer_id  text not null,
  domain        text not null,
  connection_id text not null,
  primary key (developer_id, domain),
  foreign key (developer_id, connection_id) references sso_connections on delete cascade
);
-- The domains of a connection that changes.
create index sso_connection_domains_connection on sso_connection_domains (developer_id, connection_id)
  where connection_id is not null;

-- Owner: sso. The users for whom subjects of identity providers stand. Two connections with one subject are two identities.
create table sso_identities (
  developer_id  text not null,
  connection_id text not null,
  subject       text not null,
  user_id       text not null,
  created_at    timestamptz not null,
  -- The customer whom the identity assertion named that made an identity, at an issuer which serves several. Null for a
  -- login, and for a provider of one customer.
  tenant        text,
  -- The provider whose subject an identity is: the issuer, the entity id or the directory, as `providerOf` writes it.
  -- Null in rows of the release before, which are of the provider that the connection has.
  provider      text,
  primary key (developer_id, connection_id, subject),
  foreign key (developer_id, connection_id) references sso_connections on delete cascade
);
-- The identities of a person, whom no second subject of a connection becomes.
create index sso_identities_user on sso_identities (developer_id, user_id) where user_id is not null;

-- Owner: sso. Live sessions; the end of a session deletes its row. Only the hash of the browser's secret is stored.
create table sso_sessions (
  developer_id     text not null,
  id               text not null,
  connection_id    text not null,
  user_id          text,
  principal_id     text,
  subject          text not null,
  email            text,
  name             text,
  groups           text[] not null,
  mapped_scopes    text[] not null,
  secret_hash      bytea not null,
  created_at       timestamptz not null,
  expires_at       timestamptz not null,
  -- The provider's own name of a session, by which it can end that one alone.
  idp_session      text,
  -- When and how the identity provider has authenticated the person; null in sessions of the release before.
  authenticated_at timestamptz,
  auth_methods     text[],
  -- The ID token of a session, sealed. Providers such as Okta want it back (`id_token_hint`) when the person signs
  -- out. Null for other protocols, and for a token that is too long for an address.
  logout_hint      bytea,
  primary key (developer_id, id),
  foreign key (developer_id, connection_id) references sso_connections on delete cascade
);
-- The sessions of a user who leaves.
create index sso_sessions_user on sso_sessions (developer_id, user_id) where user_id is not null;
-- The sessions of a connection that changes.
create index sso_sessions_connection on sso_sessions (developer_id, connection_id, id) where connection_id is not null;
-- Sessions that ran out, which each login forgets.
create index sso_sessions_expired on sso_sessions (developer_id, expires_at) where expires_at is not null;
-- The session that a provider names in a signal.
create index sso_sessions_idp on sso_sessions (developer_id, connection_id, idp_session)
  where idp_session is not null and connection_id is not null;
-- The sessions of a principal.
create index sso_sessions_principal on sso_sessions (developer_id, principal_id, id) where principal_id is not null;
-- The sessions of a subject whom a provider names in a signal.
create index sso_sessions_subject on sso_sessions (developer_id, connection_id, subject) where connection_id is not null;

-- Owner: sso. SAML assertions that were used, until they run out, so that none is used twice.
create table sso_assertions (
  developer_id  text not null,
  connection_id text not null,
  assertion_id  text not null,
  expires_at    timestamptz not null,
  primary key (developer_id, connection_id, assertion_id),
  foreign key (developer_id, connection_id) references sso_connections on delete cascade
);
-- Assertions that ran out, which each login forgets.
create index sso_assertions_expired on sso_assertions (developer_id, expires_at) where expires_at is not null;

-- Owner: setup. Links by which a customer's administrator sets up a connection or provisioning. A link is opened once, and
-- the browser that opened it has a session from then on. Both secrets are stored as their SHA-256.
create table setup_links (
  developer_id  text not null references developers,
  id            text not null,
  name          text not null,
  purposes      text[] not null,
  connection_id text,
  link_hash     bytea not null,
  session_hash  bytea,
  created_at    timestamptz not null,
  expires_at    timestamptz not null,
  opened_at     timestamptz,
  finished_at   timestamptz,
  primary key (developer_id, id),
  foreign key (developer_id, connection_id) references sso_connections on delete cascade
);
-- A link that is opened, whose secret names it alone.
create index setup_links_id on setup_links (id);
-- The links of a connection that is deleted.
create index setup_links_connection on setup_links (developer_id, connection_id) where connection_id is not null;
-- Setup links that are old enough to be forgotten.
create index setup_links_expired on setup_links (developer_id, expires_at) where expires_at is not null;
-- Setup links that an administrator can work with.
create index setup_links_running on setup_links (developer_id, expires_at)
  where finished_at is null and expires_at is not null;

-- Owner: signals. The transmitter of each connection that may tell of its people. Its secret is stored as its SHA-256.
create table signal_sources (
  developer_id          text not null,
  connection_id         text not null,
  transmitter           text not null,
  jwks_uri              text not null,
  audience              text not null,
  tenant                text,
  requires_header       boolean not null,
  on_session_revoked    text not null,
  secret_hash           bytea not null,
  last_signal_at        timestamptz,
  verified_at           timestamptz,
  created_at            timestamptz not null,
  updated_at            timestamptz not null,
  -- Streams that the service makes at the transmitter, and those that it polls.
  delivery              text not null default 'push',
  auth_type             text,
  auth                  bytea, -- the service's credential at the transmitter, sealed
  seal_key_id           text,
  stream                jsonb, -- {id, configurationEndpoint, verificationEndpoint, pollEndpoint}
  poll_due_at           timestamptz, -- null for a push; the instance that polls moves it on first
  poll_failures         integer not null default 0, -- since the last poll that went well
  last_polled_at        timestamptz,
  last_error            text,
  -- Verification of the streams that the service makes.
  verification_state    text, -- sent back by the transmitter in its next verification
  verification_asked_at timestamptz,
  check_due_at          timestamptz, -- null where no verification can be asked for
  silent_since          timestamptz, -- told of, and no verification was heard since
  primary key (developer_id, connection_id),
  foreign key (developer_id, connection_id) references sso_connections on delete cascade
);
-- A signal that arrives, which names its connection alone.
create index signal_sources_connection on signal_sources (connection_id);
-- The streams that are polled next.
create index signal_sources_poll on signal_sources (poll_due_at) where poll_due_at is not null;
-- The streams that are looked at next.
create index signal_sources_check on signal_sources (check_due_at) where check_due_at is not null;

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
create index signal_receipts_received on signal_receipts (developer_id, received_at) where received_at is not null;
