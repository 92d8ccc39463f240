create type member_role as enum ('owner', 'admin', 'operator', 'auditor');
create type member_status as enum ('active', 'suspended');

-- Owner: members. The people who use the console for an account. Addresses are in lower case.
create table members (
  developer_id text not null references developers,
  id           text not null,
  email        text,
  display_name text not null,
  role         member_role not null,
  status       member_status not null default 'active',
  invited_by   text,
  created_at   timestamptz not null,
  last_seen_at timestamptz,
  primary key (developer_id, id)
);
-- The member who has an address, and none twice.
create unique index members_email on members (developer_id, email);

create type console_opening as enum ('key', 'link', 'passkey', 'invitation');

-- Owner: members. Sessions of the console, whose secrets are stored as their SHA-256. One that an API key opened ends with
-- the key.
create table console_sessions (
  developer_id text not null references developers,
  id           text not null,
  member_id    text not null,
  secret_hash  bytea not null,
  opened_by    console_opening not null,
  key_id       text,
  needs_passkey boolean not null,
  stepped_up_at timestamptz,
  ip           text not null,
  user_agent   text,
  created_at   timestamptz not null,
  last_seen_at timestamptz not null,
  expires_at   timestamptz not null,
  primary key (developer_id, id),
  foreign key (developer_id, member_id) references members on delete cascade,
  foreign key (developer_id, key_id) references api_keys
);
-- The sessions of a member, which end together.
create index console_sessions_member on console_sessions (developer_id, member_id);
