-- Owner: emails. Links that were mailed to verify an address. A developer has one pending link at most, and the
-- link that verified its address. `asked_by` is the actor that asked for the link.
create table email_verifications (
  developer_id text not null references developers,
  id           text not null,
  email        text not null,
  asked_by     text not null,
  created_at   timestamptz not null,
  expires_at   timestamptz not null,
  verified_at  timestamptz,
  primary key (developer_id, id)
);

-- Owner: emails. A link names no tenant. This table finds the tenant. The token itself is never stored, only its
-- SHA-256.
create table email_verification_index (
  hash            bytea primary key check (octet_length(hash) = 32),
  developer_id    text not null,
  verification_id text not null,
  unique (developer_id, verification_id),
  foreign key (developer_id, verification_id) references email_verifications on delete cascade
);

-- Owner: emails. The owners of verified addresses. An address has one owner, and an account one verified address.
create table verified_emails (
  email        text primary key,
  developer_id text not null unique references developers
);
