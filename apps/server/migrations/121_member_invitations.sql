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
