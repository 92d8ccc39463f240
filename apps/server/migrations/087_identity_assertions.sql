-- Owner: grants. Grants on the word of an identity provider, and two reasons for which they end.
alter type consent_method add value if not exists 'idp';
alter type revoked_reason add value if not exists 'idp_rule';
alter type revoked_reason add value if not exists 'superseded';

-- Owner: tokens. A token may have narrower details than its grant.
alter table tokens add column authorization_details jsonb;

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

create type assertion_client_status as enum ('active', 'paused');

-- Owner: assertions. The clients for which an identity provider may speak, and the most that each gets. `version` grows
-- with each change, so that an assertion that was read under other limits is read again.
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
create unique index assertion_clients_client on assertion_clients (developer_id, connection_id, client_id);

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
create index assertion_grants_pair on assertion_grants (developer_id, principal_id, agent_id);
-- The grants of a rule that ends.
create index assertion_grants_rule on assertion_grants (developer_id, rule_id);

-- Owner: assertions. Assertions that were used, until two minutes after they run out, so that none is used twice.
create table assertion_uses (
  developer_id  text not null references developers,
  connection_id text not null,
  jti           text not null,
  expires_at    timestamptz not null,
  primary key (developer_id, connection_id, jti)
);
-- Uses that are old enough to be forgotten.
create index assertion_uses_expired on assertion_uses (developer_id, connection_id, expires_at);
