-- Owner: verifiers. Programs that answer from memory whether a grant is good, and confirm revocations. `asked_seq` is the
-- position that a verifier owes; without it the lease is not renewed. `position` is what it signed last.
create table verifiers (
  developer_id text not null references developers,
  id           text not null,
  name         text not null,
  public_key   jsonb not null,
  created_at   timestamptz not null,
  lease_until  timestamptz not null,
  asked_seq    bigint not null default 0,
  asked_hash   text,
  position_seq bigint not null default 0,
  position     text,
  confirmed_at timestamptz,
  primary key (developer_id, id)
);

-- Owner: verifiers. The newest statement about the revocation of a grant.
create table revocation_statements (
  developer_id text not null references developers,
  grant_id     text not null,
  is_complete  boolean not null,
  statement    text not null,
  stated_at    timestamptz not null,
  primary key (developer_id, grant_id)
);
