-- Owner: members. The people who use the console for an account. Addresses are in lower case.
create type member_role as enum ('owner', 'admin', 'operator', 'auditor');
create type member_status as enum ('active', 'suspended');
create table members (
  developer_id      text not null references developers,
  id                text not null,
  email             text,
  display_name      text not null,
  role              member_role not null,
  status            member_status not null default 'active',
  invited_by        text,
  created_at        timestamptz not null,
  last_seen_at      timestamptz,
  -- For a member who signs in through the account's identity provider: the connection, and the SHA-256 of the issuer and
  -- the subject. The provider asserts the address and nobody has proved it, so two members may have the same.
  sso_connection_id text,
  sso_subject       bytea,
  -- Until when no other member can change or remove somebody whom the operator let in.
  protected_until   timestamptz,
  primary key (developer_id, id),
  check ((sso_connection_id is null) = (sso_subject is null))
);
-- The member whom a provider means.
create unique index members_sso on members (developer_id, sso_connection_id, sso_subject);
-- The member who has an address, and none twice.
create unique index members_email on members (developer_id, email) where sso_connection_id is null;

-- Owner: members. Sessions of the console, whose secrets are stored as their SHA-256. One that an API key opened ends with
-- the key.
create type console_opening as enum ('key', 'link', 'passkey', 'invitation', 'recovery', 'code', 'sso');
create table console_sessions (
  developer_id   text not null references developers,
  id             text not null,
  member_id      text not null,
  secret_hash    bytea not null,
  opened_by      console_opening not null,
  key_id         text,
  needs_passkey  boolean not null,
  stepped_up_at  timestamptz,
  ip             text not null,
  user_agent     text,
  created_at     timestamptz not null,
  last_seen_at   timestamptz not null,
  expires_at     timestamptz not null,
  -- The session at the provider, with which one of the console ends.
  sso_session_id text,
  primary key (developer_id, id),
  foreign key (developer_id, member_id) references members on delete cascade,
  foreign key (developer_id, key_id) references api_keys
);
-- The sessions of a member, which end together.
create index console_sessions_member on console_sessions (developer_id, member_id);

-- Owner: members. Links by which people become members. The secret is stored as its SHA-256.
create table member_invitations (
  developer_id text not null references developers,
  id           text not null,
  email        text not null,
  role         member_role not null,
  -- The member that the person becomes: their passkey is made before they are one.
  member_id    text not null,
  link_hash    bytea not null,
  invited_by   text not null,
  created_at   timestamptz not null,
  expires_at   timestamptz not null,
  primary key (developer_id, id)
);

-- Owner: members. Codes by which a member who has lost their passkeys registers another, each once. Stored as their SHA-256.
create table member_recovery_codes (
  developer_id text not null references developers,
  member_id    text not null,
  code_hash    bytea not null,
  created_at   timestamptz not null,
  primary key (developer_id, member_id, code_hash),
  foreign key (developer_id, member_id) references members on delete cascade
);
-- The code that somebody brings who names no account.
create index member_recovery_codes_hash on member_recovery_codes (code_hash);

-- Owner: changes. Requests that loosen a rule and wait for a second member. `params` and `body` are those of the request, and
-- go when it is decided.
create type change_status as enum ('open', 'applied', 'withdrawn', 'expired');
create table changes (
  developer_id text not null references developers,
  id           text not null,
  status       change_status not null default 'open',
  operation    text not null,
  about        text not null,
  -- What would be other than now. The change is applied only while this is so.
  difference   jsonb not null,
  params       jsonb,
  body         jsonb,
  -- SHA-256 over operation, parameters and body.
  hash         bytea not null,
  proposed_by  text not null,
  -- The members who agreed, the first first.
  approved_by  text[] not null default '{}',
  needed       smallint not null,
  created_at   timestamptz not null,
  expires_at   timestamptz not null,
  decided_at   timestamptz,
  primary key (developer_id, id)
);
-- The open changes of an account.
create index changes_open on changes (developer_id, expires_at) where status = 'open';
-- The open changes of all accounts that have run out. `needed` is always more than 0; the search of one account, which does
-- not say so, keeps to the index above.
create index changes_ending on changes (expires_at) where status = 'open' and needed > 0;
-- The decided changes of all accounts that are deleted.
create index changes_decided on changes (decided_at) where status <> 'open';
