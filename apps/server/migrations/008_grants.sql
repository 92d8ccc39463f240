-- Owner: authorization. A developer's question whether an agent may have scopes from a principal.
-- `expires_in` is the grant's lifetime as the caller wrote it (`24h`); `expires_at` is when the request
-- itself closes.
create type auth_request_status as enum ('pending', 'approved', 'denied', 'cancelled', 'consumed', 'expired');
create type consent_method as enum ('developer', 'email', 'sso', 'passkey', 'policy', 'sandbox', 'link', 'delegated', 'idp');
-- A request may come by another channel than a browser: it has no redirect URI and no code, and its client polls.
create type auth_channel as enum ('device', 'ciba');
create table auth_requests (
  developer_id          text not null,
  id                    text not null,
  agent_id              text not null,
  principal_id          text not null,
  scopes                text[] not null,
  expires_in            text not null,
  token_seconds         integer not null,
  redirect_uri          text,
  state                 text,
  code_challenge        text,
  audience              text,
  authorization_details jsonb,
  status                auth_request_status not null,
  consent_method        consent_method,
  wrong_verifiers       smallint not null,
  created_at            timestamptz not null,
  expires_at            timestamptz not null,
  decided_at            timestamptz,
  code_expires_at       timestamptz,
  -- The key that made the request: the code goes to this key or its successors.
  key_id                text,
  -- The manifests under which a person agreed, `{"mode", "pins": [{"connector", "version", "sha256"}]}`: set with the
  -- approval, copied into the grant, and inherited by grants that are delegated from it.
  manifests             jsonb,
  -- The budget that is allocated with the grant, once the request is exchanged.
  budget_amount         bigint check (budget_amount > 0),
  budget_currency       text check (budget_currency ~ '^[A-Z]{3}$'),
  -- The policy that approved, where no person was asked.
  policy_id             text,
  -- A code that was asked for with the thumbprint of a key is exchanged only with a proof by that key.
  key_thumbprint        text,
  -- The OAuth client as it described itself when it asked; null for native requests.
  client                jsonb,
  channel               auth_channel,
  -- The text that the person compares with the other device: a user code or a binding message.
  compared_text         text,
  -- The agent as the consent page showed it when the person approved, `{"name", "description", "publicKeyJwk"}`. Null if
  -- the request was approved without the page.
  shown_agent           jsonb,
  -- `authenticated_since` is the earliest sign-in that counts for the request; the others are the sign-in that decided it.
  authenticated_since   timestamptz,
  authenticated_at      timestamptz,
  auth_methods          text[],
  primary key (developer_id, id),
  foreign key (developer_id, agent_id) references agents,
  -- An approval has a method, a time, and a time until which its code is good.
  check (status not in ('approved', 'consumed')
    or (consent_method is not null and decided_at is not null and code_expires_at is not null)),
  check ((budget_amount is null) = (budget_currency is null))
) with (autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.05);
-- Finds requests that nobody decided or exchanged in time, across tenants and oldest first.
create index auth_requests_due on auth_requests (coalesce(code_expires_at, expires_at))
  where status in ('pending', 'approved');
-- Revoking an agent cancels its open requests.
create index auth_requests_open on auth_requests (developer_id, agent_id)
  where status in ('pending', 'approved') and agent_id is not null;
-- The open requests of a principal, which end when the principal ends everything.
create index auth_requests_open_of_principal on auth_requests (developer_id, principal_id)
  where status in ('pending', 'approved') and principal_id is not null;
-- GET /v1/authorize by agent and by principal, newest first. Every request has counted its wrong verifiers, and only the
-- list says so: all other searches by agent or principal are for open requests, and keep to the indexes of those.
create index auth_requests_agent on auth_requests (developer_id, agent_id, id)
  where agent_id is not null and wrong_verifiers >= 0;
create index auth_requests_principal on auth_requests (developer_id, principal_id, id)
  where principal_id is not null and wrong_verifiers >= 0;

-- Owner: grants. A principal's permission. A grant never changes except to end. `expired` is not stored: it
-- follows from expires_at. A request makes one grant at most, so its code is good for a single exchange.
-- `delegated_by` holds the DIDs of the agents that delegated it, the nearest first and the root's last. Every
-- token of the grant carries them, and each verification compares them. Ten delegations are the most that any
-- setting allows. `expiry_announced_at` is when the service announced the expiry.
create type grant_status as enum ('active', 'revoked');
create type revoked_reason as enum (
  'developer', 'client', 'principal', 'parent', 'agent_revoked', 'principal_offboarded', 'refresh_reuse',
  'code_reuse', 'anomaly', 'policy', 'admin', 'token_revoked', 'idp_signal', 'idp_rule', 'superseded');
create table grants (
  developer_id          text not null,
  id                    text not null,
  auth_request_id       text,
  agent_id              text not null,
  principal_id          text not null,
  scopes                text[] not null,
  audience              text,
  authorization_details jsonb,
  token_seconds         integer not null,
  status                grant_status not null,
  consent_method        consent_method not null,
  is_unverified         boolean not null,
  issued_at             timestamptz not null,
  expires_at            timestamptz not null,
  revoked_at            timestamptz,
  revoked_reason        revoked_reason,
  last_used_at          timestamptz,
  parent_grant_id       text,
  root_grant_id         text not null,
  delegation_depth      smallint not null,
  delegated_by          text[] not null,
  expiry_announced_at   timestamptz,
  -- A delegated grant ends with the token that it was made with.
  parent_token_id       text,
  manifests             jsonb,
  policy_id             text,
  -- The sign-in that led to the grant.
  authenticated_at      timestamptz,
  auth_methods          text[],
  primary key (developer_id, id),
  foreign key (developer_id, agent_id) references agents,
  foreign key (developer_id, auth_request_id) references auth_requests,
  foreign key (developer_id, parent_grant_id) references grants,
  constraint grants_chain check (delegation_depth between 0 and 10 and cardinality(delegated_by) = delegation_depth)
) with (autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.05);
-- Revoking walks from parent to children.
create index grants_children on grants (developer_id, parent_grant_id, id) where parent_grant_id is not null;
-- Finds expired grants whose expiry is not announced yet, across tenants and oldest first.
create index grants_run_out on grants (expires_at) where status = 'active' and expiry_announced_at is null;
-- Revoking a token walks to the grants that were made with it.
create index grants_of_token on grants (developer_id, parent_token_id) where parent_token_id is not null;
-- Counts live grants when a plan's quota is met.
create index grants_active on grants (developer_id, expires_at) where status = 'active' and expires_at is not null;
-- GET /v1/grants by agent, by principal, by tree.
create index grants_agent on grants (developer_id, agent_id, id) where agent_id is not null;
create unique index grants_developer_id_auth_request_id_key on grants (developer_id, auth_request_id)
  where auth_request_id is not null;
create index grants_principal on grants (developer_id, principal_id, id) where principal_id is not null;
create index grants_root on grants (developer_id, root_grant_id, id) where root_grant_id is not null;
-- Finds the active grants of a person who leaves, under each id in any case; and GET /v1/principals by the beginning of an
-- id, in the order of bytes, which every collation of a database can search by prefix.
create index grants_principal_folded on grants (developer_id, lower(principal_id) text_pattern_ops)
  where status = 'active' and lower(principal_id) is not null;

-- Owner: grants. The grants whose consent has to be renewed, once for each cause, since each is told of once.
create type renewal_cause as enum ('age', 'agent_changed', 'manifest_changed');
create table grant_renewals (
  developer_id text not null references developers,
  grant_id     text not null,
  cause        renewal_cause not null,
  found_at     timestamptz not null,
  primary key (developer_id, grant_id, cause)
);

-- Owner: tokens. Grant tokens by their `jti`, without their text. A token whose grant is revoked is revoked
-- too, without a mark of its own.
create table tokens (
  developer_id          text not null,
  id                    text not null,
  grant_id              text not null,
  issued_at             timestamptz not null,
  expires_at            timestamptz not null,
  revoked_at            timestamptz,
  -- A token may have fewer scopes than its grant, an audience of its own, and a key that it is bound to (RFC 9449).
  -- Verification compares with the stored token first.
  scopes                text[],
  audience              text,
  key_thumbprint        text,
  -- A token may have narrower details than its grant.
  authorization_details jsonb,
  -- The sign-in that the token states, in `auth_time` and `amr`.
  authenticated_at      timestamptz,
  auth_methods          text[],
  -- A token for the vault that a resource got in exchange for one that it received: the resource, and the token that it
  -- received, with which this one ends.
  acting_resource_id    text,
  subject_token_id      text,
  primary key (developer_id, id),
  foreign key (developer_id, grant_id) references grants
) with (autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.05);
create index tokens_grant on tokens (developer_id, grant_id, id) where grant_id is not null;

-- Owner: tokens. One family per grant: each token is made from the one before it and from no other.
create table refresh_tokens (
  developer_id   text not null,
  id             text not null,
  grant_id       text not null,
  hash           bytea not null check (octet_length(hash) = 32),
  predecessor_id text,
  issued_at      timestamptz not null,
  expires_at     timestamptz not null,
  spent_at       timestamptz,
  -- The refresh token of a public client is bound to its key.
  key_thumbprint text,
  primary key (developer_id, id),
  foreign key (developer_id, grant_id) references grants
) with (autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.05);
create unique index refresh_tokens_developer_id_predecessor_id_key on refresh_tokens (developer_id, predecessor_id)
  where predecessor_id is not null;

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
