-- Owner: oauth. Agents that are OAuth clients. The secret itself is never stored, only its SHA-256.
-- `workload_jwt`: a JWT of the platform that the client runs on, in place of a secret or key of its own.
create type oauth_auth_method as enum (
  'none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt', 'workload_jwt');
create table oauth_clients (
  developer_id  text not null references developers,
  agent_id      text not null,
  redirect_uris text[] not null,
  auth_method   oauth_auth_method not null,
  secret_hash   bytea check (octet_length(secret_hash) = 32),
  dpop_bound    boolean not null,
  created_at    timestamptz not null,
  updated_at    timestamptz not null,
  primary key (developer_id, agent_id),
  foreign key (developer_id, agent_id) references agents,
  check ((secret_hash is not null) = (auth_method in ('client_secret_basic', 'client_secret_post')))
);

-- Owner: oauth. Clients that have registered themselves (RFC 7591). They belong to no developer, so they have no tenant.
-- Secrets are never stored, only their SHA-256. The description is the metadata as the client reads them again.
create table dynamic_clients (
  client_id       text primary key,
  name            text not null,
  redirect_uris   text[] not null,
  auth_method     oauth_auth_method not null,
  secret_hash     bytea check (octet_length(secret_hash) = 32),
  management_hash bytea not null check (octet_length(management_hash) = 32),
  keys            jsonb,
  refreshes       boolean not null,
  description     jsonb not null,
  created_at      timestamptz not null,
  expires_at      timestamptz not null,
  check ((secret_hash is not null) = (auth_method in ('client_secret_basic', 'client_secret_post')))
);
-- Clients that nobody has used for long.
create index dynamic_clients_expiry on dynamic_clients (expires_at);

-- Owner: workloads. Issuers whose JWTs identify an agent where it runs, and which of their JWTs do.
create table agent_workloads (
  developer_id  text not null,
  id            text not null,
  agent_id      text not null,
  issuer        text not null,
  jwks_uri      text not null,
  audience      text not null,
  subject       text not null,
  claims        jsonb not null,
  max_seconds   integer not null,
  allow_reuse   boolean not null,
  created_at    timestamptz not null,
  primary key (developer_id, id),
  foreign key (developer_id, agent_id) references agents
);
-- The workloads of an agent that authenticates.
create index agent_workloads_agent on agent_workloads (developer_id, agent_id, id) where agent_id is not null;

-- Owner: resources. Servers that take the developer's tokens, by their URIs (RFC 8707).
create table resources (
  developer_id      text not null references developers,
  id                text not null,
  resource          text not null,
  name              text not null,
  scopes            text[] not null,
  connectors        text[] not null,
  login_url         text,
  dpop_required     boolean not null,
  token_ttl_seconds integer not null,
  created_at        timestamptz not null,
  updated_at        timestamptz not null,
  -- What a developer says about the scopes of a resource, by scope: `{"title", "description", "titles"}`.
  scope_words       jsonb not null default '{}',
  primary key (developer_id, id)
);

-- Owner: resources. Finds the developer of a resource by its URI or its credential, so it has no tenant. The URI is in its
-- one spelling (`canonicalResource`): scheme and host in lower case, without the port that the scheme has anyway, and
-- without the slash of an origin. The credential itself is never stored, only its SHA-256.
create table resource_index (
  resource     text primary key,
  hash         bytea not null check (octet_length(hash) = 32),
  developer_id text not null,
  resource_id  text not null,
  foreign key (developer_id, resource_id) references resources on delete cascade
);
-- A resource that calls with its credential.
create index resource_index_hash on resource_index (hash);

-- Owner: assertions. Connections whose identity provider decides for people here, without a consent page.
create table assertion_trusts (
  developer_id    text not null,
  connection_id   text not null,
  is_enabled      boolean not null,
  tenant          text,
  longest_seconds integer not null,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  primary key (developer_id, connection_id),
  foreign key (developer_id, connection_id) references sso_connections on delete cascade
);

-- Owner: assertions. The clients for which an identity provider may speak, and the most that each gets. `version` grows
-- with each change, so that an assertion that was read under other limits is read again.
create type assertion_client_status as enum ('active', 'paused');
create table assertion_clients (
  developer_id          text not null,
  id                    text not null,
  connection_id         text not null,
  client_id             text not null,
  agent_id              text not null,
  scopes                text[] not null,
  default_scopes        text[] not null,
  resources             text[],
  authorization_details jsonb,
  manifests             jsonb,
  token_seconds         integer not null,
  grant_ttl             text not null,
  max_auth_age_seconds  integer,
  require_amr           text[] not null,
  allow_public          boolean not null,
  status                assertion_client_status not null,
  version               integer not null,
  created_at            timestamptz not null,
  updated_at            timestamptz not null,
  primary key (developer_id, id),
  foreign key (developer_id, connection_id) references sso_connections on delete cascade
);
-- One rule for a client at each connection.
create unique index assertion_clients_client on assertion_clients (developer_id, connection_id, client_id)
  where connection_id is not null;

-- Owner: assertions. The standing grant of each client for a person and an audience. A grant that somebody has revoked
-- stops the next assertion, until the stop is lifted, which deletes the row. It outlives its rule and its connection,
-- so that the end of a grant by a person holds.
create table assertion_grants (
  developer_id  text not null references developers,
  id            text not null,
  connection_id text not null,
  rule_id       text not null,
  agent_id      text not null,
  principal_id  text not null,
  audience      text not null,
  grant_id      text not null,
  created_at    timestamptz not null,
  primary key (developer_id, id)
);
create unique index assertion_grants_standing
  on assertion_grants (developer_id, connection_id, agent_id, principal_id, audience);
-- The stops of a person's agent.
create index assertion_grants_pair on assertion_grants (developer_id, principal_id, agent_id) where principal_id is not null;
-- The grants of a rule that ends.
create index assertion_grants_rule on assertion_grants (developer_id, rule_id) where rule_id is not null;

-- Owner: assertions. Assertions that were used, until two minutes after they run out, so that none is used twice.
create table assertion_uses (
  developer_id  text not null references developers,
  connection_id text not null,
  jti           text not null,
  expires_at    timestamptz not null,
  primary key (developer_id, connection_id, jti)
);
-- Uses that are old enough to be forgotten.
create index assertion_uses_expired on assertion_uses (developer_id, connection_id, expires_at)
  where connection_id is not null;
