-- Owner: grants. A principal's permission. A grant never changes except to end. `expired` is not stored: it
-- follows from expires_at. A request makes one grant at most, so its code is good for a single exchange.
-- `delegated_by` holds the DIDs of the agents that delegated it, the nearest first and the root's last. Every
-- token of the grant carries them, and each verification compares them. Ten delegations are the most that any
-- setting allows. `expiry_announced_at` is when the service announced the expiry.
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
  delegated_by          text[] not null,
  expiry_announced_at   timestamptz,
  primary key (developer_id, id),
  unique (developer_id, auth_request_id),
  foreign key (developer_id, agent_id) references agents,
  foreign key (developer_id, auth_request_id) references auth_requests,
  foreign key (developer_id, parent_grant_id) references grants,
  constraint grants_chain check (delegation_depth between 0 and 10 and cardinality(delegated_by) = delegation_depth)
);
-- GET /v1/grants by agent, by principal, by tree; revoking walks from parent to children.
create index grants_agent on grants (developer_id, agent_id, id);
create index grants_principal on grants (developer_id, principal_id, id);
create index grants_root on grants (developer_id, root_grant_id, id);
create index grants_children on grants (developer_id, parent_grant_id, id) where parent_grant_id is not null;
-- Counts live grants when a plan's quota is met.
create index grants_active on grants (developer_id, expires_at) where status = 'active';
-- Finds expired grants whose expiry is not announced yet, across tenants and oldest first.
create index grants_run_out on grants (expires_at) where status = 'active' and expiry_announced_at is null;
