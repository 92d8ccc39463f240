-- Owner: tokens. Grant tokens by their `jti`, without their text. A token whose grant is revoked is revoked
-- too, without a mark of its own.
create table tokens (
  developer_id text not null references developers,
  id           text not null,
  grant_id     text not null,
  issued_at    timestamptz not null,
  expires_at   timestamptz not null,
  revoked_at   timestamptz,
  primary key (developer_id, id),
  foreign key (developer_id, grant_id) references grants
);
create index tokens_grant on tokens (developer_id, grant_id, id);

-- Owner: tokens. One family per grant: each token is made from the one before it and from no other.
create table refresh_tokens (
  developer_id   text not null references developers,
  id             text not null,
  grant_id       text not null,
  hash           bytea not null check (octet_length(hash) = 32),
  predecessor_id text,
  issued_at      timestamptz not null,
  expires_at     timestamptz not null,
  spent_at       timestamptz,
  primary key (developer_id, id),
  unique (developer_id, predecessor_id),
  foreign key (developer_id, grant_id) references grants
);
