-- Owner: operator. The end of the operator's chain: one row, written by each transaction that appends.
create table operator_head (
  id    text primary key,
  seq   bigint not null,
  hash  text,
  at    timestamptz not null
);
insert into operator_head (id, seq, at) values ('operator', 0, '-infinity');

-- Owner: operator. The audit chain of the deployment: what its operator did, or the service by itself. Append-only, and
-- apart from the chains of developers. The hashes are those of audit entries.
create table operator_entries (
  seq        bigint primary key,
  id         text not null,
  action     text not null,
  metadata   jsonb not null,
  request_id text not null,
  at         timestamptz not null,
  prev_hash  text,
  hash       text not null
);
create trigger append_only before update or delete or truncate on operator_entries
  for each statement execute function refuse_change();

-- Owner: keys. The keys that sign tokens, with SIGNING_KEY_STORE=postgres. A row stays when its key is removed, so that
-- a key of the settings is inserted once.
create type signing_key_state as enum ('pending', 'active', 'retired', 'removed');
create table signing_keys (
  kid            text primary key,
  alg            text not null check (alg in ('RS256', 'ES256')),
  public_jwk     jsonb not null,
  data_key       text, -- seals private_sealed, and is itself sealed by the vault key
  private_sealed text,
  state          signing_key_state not null,
  published_at   timestamptz not null,
  activated_at   timestamptz,
  retired_at     timestamptz,
  removed_at     timestamptz,
  -- The private half is erased with the first write that takes the key from use.
  check ((private_sealed is null) = (state in ('retired', 'removed'))),
  check ((data_key is null) = (private_sealed is null))
);
-- An algorithm has one active key.
create unique index signing_keys_active on signing_keys (alg) where state = 'active';

-- Owner: keys. When the service first had each of its DID documents, for the metadata of their resolution. A document is
-- known by its digest, so instances that start with the same keys agree.
create table service_did_documents (
  did           text not null,
  sha256        text not null, -- base64url
  first_made_at timestamptz not null,
  primary key (did, sha256)
);
