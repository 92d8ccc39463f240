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
