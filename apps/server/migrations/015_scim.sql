-- Owner: scim. Credentials by which a developer's identity provider provisions people.
create table scim_tokens (
  developer_id text not null references developers,
  id           text not null,
  label        text not null,
  created_at   timestamptz not null,
  last_used_at timestamptz,
  expires_at   timestamptz,
  primary key (developer_id, id)
);

-- Owner: scim. Finds the developer of a token, so it has no tenant. The token itself is never stored, only its SHA-256.
create table scim_token_index (
  hash         bytea primary key check (octet_length(hash) = 32),
  developer_id text not null,
  token_id     text not null,
  foreign key (developer_id, token_id) references scim_tokens on delete cascade
);

-- Owner: scim. People as the identity provider tells of them. `attributes` is the resource in the names of RFC 7643
-- without what the service adds; the columns repeat what is searched for. An id begins with its time, so the order of
-- ids is the order of creation.
create table scim_users (
  developer_id text not null references developers,
  id           text not null,
  user_name    text not null,
  external_id  text,
  display_name text,
  active       boolean not null,
  attributes   jsonb not null,
  version      integer not null,
  created_at   timestamptz not null,
  updated_at   timestamptz not null,
  -- The connection whose signal made a user inactive, until anybody else writes the user.
  disabled_by  text,
  primary key (developer_id, id)
);
-- A filter by `externalId`; one identifier, one user.
create unique index scim_users_external_id on scim_users (developer_id, external_id) where external_id is not null;
-- A filter by `active`. Few users are inactive.
create index scim_users_inactive on scim_users (developer_id, id) where not active;
-- A filter by `meta.created`.
create index scim_users_created on scim_users (developer_id, created_at) where created_at is not null;
-- A filter by `displayName`.
create index scim_users_display_name on scim_users (developer_id, lower(display_name)) where lower(display_name) is not null;
-- A filter by `meta.lastModified`.
create index scim_users_updated on scim_users (developer_id, updated_at) where updated_at is not null;
-- A filter by `userName`; one name, one user.
create unique index scim_users_user_name on scim_users (developer_id, lower(user_name)) where lower(user_name) is not null;

-- Owner: scim. The addresses of users, folded, for filters by `emails.value`.
create table scim_user_emails (
  developer_id text not null,
  address      text not null,
  user_id      text not null,
  primary key (developer_id, address, user_id),
  foreign key (developer_id, user_id) references scim_users on delete cascade
);
-- The addresses of a user whose addresses change.
create index scim_user_emails_user on scim_user_emails (developer_id, user_id) where user_id is not null;

-- Owner: scim. The principal ids that a user stands for, and stood for before, until another user takes one. A folded
-- id is compared without regard to case and stored in lower case. `is_active` repeats what the user's row says, so that
-- hot writes read and lock one row.
create table scim_principals (
  developer_id text not null,
  folded       text not null check (folded = lower(principal_id)),
  principal_id text not null,
  is_folded    boolean not null,
  user_id      text not null,
  is_current   boolean not null,
  is_active    boolean not null,
  primary key (developer_id, folded, principal_id, is_folded),
  foreign key (developer_id, user_id) references scim_users on delete cascade
);
-- The ids of a user that changes.
create index scim_principals_user on scim_principals (developer_id, user_id) where user_id is not null;
-- GET /v1/principals by the beginning of an id.
create index scim_principals_prefix on scim_principals (developer_id, folded text_pattern_ops)
  where folded is not null and is_current;

-- Owner: scim. Groups as the identity provider tells of them.
create table scim_groups (
  developer_id text not null references developers,
  id           text not null,
  display_name text not null,
  external_id  text,
  version      integer not null,
  created_at   timestamptz not null,
  updated_at   timestamptz not null,
  primary key (developer_id, id)
);
-- A filter by `externalId`; one identifier, one group.
create unique index scim_groups_external_id on scim_groups (developer_id, external_id) where external_id is not null;
-- A filter by `displayName`; one name, one group.
create unique index scim_groups_display_name on scim_groups (developer_id, lower(display_name))
  where lower(display_name) is not null;

-- Owner: scim. The users in each group.
create table scim_members (
  developer_id text not null,
  group_id     text not null,
  user_id      text not null,
  primary key (developer_id, group_id, user_id),
  foreign key (developer_id, group_id) references scim_groups on delete cascade,
  foreign key (developer_id, user_id) references scim_users on delete cascade
);
-- The groups of a user.
create index scim_members_user on scim_members (developer_id, user_id, group_id) where user_id is not null;

-- Owner: scim. Principals whom the developer has offboarded: nothing is given to them until they are admitted again.
create table closed_principals (
  developer_id text not null references developers,
  principal_id text not null,
  closed_at    timestamptz not null,
  primary key (developer_id, principal_id)
);
