-- Owner: grants. What a person allowed. Never changes but to end. `expired` is not stored: it follows from
-- expires_at. Unique on the request it came from, which is what makes a code good for one exchange.
-- Written by redeem_code and revoke_tree too.
create type grant_status as enum ('active', 'revoked');
create type revoked_reason as enum ('developer', 'client', 'principal', 'parent', 'agent_revoked',
  'principal_offboarded', 'refresh_reuse', 'code_reuse', 'anomaly', 'policy', 'admin');
create table grants (
  developer_id          text not null references developers,
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
  primary key (developer_id, id),
  unique (developer_id, auth_request_id),
  foreign key (developer_id, agent_id) references agents,
  foreign key (developer_id, auth_request_id) references auth_requests,
  foreign key (developer_id, parent_grant_id) references grants
);
-- GET /v1/grants by agent, by principal, by tree; revoking walks from parent to children.
create index grants_agent on grants (developer_id, agent_id, id);
create index grants_principal on grants (developer_id, principal_id, id);
create index grants_root on grants (developer_id, root_grant_id, id);
create index grants_children on grants (developer_id, parent_grant_id, id) where parent_grant_id is not null;
-- Counting those that live, when a plan's limit is met.
create index grants_active on grants (developer_id, expires_at) where status = 'active';

-- Owner: tokens. Grant tokens by their `jti`; the text of a token is nowhere. One whose grant is revoked is
-- revoked with it, without a mark of its own.
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

-- Owner: tokens. One family a grant, each member made from the one before and from no other.
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
