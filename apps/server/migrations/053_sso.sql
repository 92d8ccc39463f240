create type sso_protocol as enum ('oidc', 'saml', 'ldap');
create type sso_status as enum ('active', 'inactive', 'testing');

-- Owner: sso. Identity providers of a developer's customers. `settings` holds what is not secret; the client secret or
-- bind password is sealed under the row's own data key. `version` grows with each change that a login under way has to
-- notice.
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
  primary key (developer_id, id)
);
-- The single configuration of older clients.
create unique index sso_connections_default on sso_connections (developer_id) where is_default;

-- Owner: sso. The domains of connections that are not inactive: a developer has each on one of them.
create table sso_connection_domains (
  developer_id  text not null,
  domain        text not null,
  connection_id text not null,
  primary key (developer_id, domain),
  foreign key (developer_id, connection_id) references sso_connections on delete cascade
);
-- The domains of a connection that changes.
create index sso_connection_domains_connection on sso_connection_domains (developer_id, connection_id);

-- Owner: sso. The users for whom subjects of identity providers stand. Two connections with one subject are two identities.
create table sso_identities (
  developer_id  text not null,
  connection_id text not null,
  subject       text not null,
  user_id       text not null,
  created_at    timestamptz not null,
  primary key (developer_id, connection_id, subject),
  foreign key (developer_id, connection_id) references sso_connections on delete cascade
);

-- Owner: sso. Live sessions; the end of a session deletes its row. Only the hash of the browser's secret is stored.
create table sso_sessions (
  developer_id  text not null,
  id            text not null,
  connection_id text not null,
  user_id       text,
  principal_id  text,
  subject       text not null,
  email         text,
  name          text,
  groups        text[] not null,
  mapped_scopes text[] not null,
  secret_hash   bytea not null,
  created_at    timestamptz not null,
  expires_at    timestamptz not null,
  primary key (developer_id, id),
  foreign key (developer_id, connection_id) references sso_connections on delete cascade
);
-- The sessions of a connection that changes.
create index sso_sessions_connection on sso_sessions (developer_id, connection_id, id);
-- The sessions of a principal.
create index sso_sessions_principal on sso_sessions (developer_id, principal_id, id);
-- The sessions of a user who leaves.
create index sso_sessions_user on sso_sessions (developer_id, user_id) where user_id is not null;

-- Owner: sso. SAML assertions that were used, until they run out, so that none is used twice.
create table sso_assertions (
  developer_id  text not null,
  connection_id text not null,
  assertion_id  text not null,
  expires_at    timestamptz not null,
  primary key (developer_id, connection_id, assertion_id),
  foreign key (developer_id, connection_id) references sso_connections on delete cascade
);
