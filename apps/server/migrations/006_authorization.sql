-- Owner: authorization. A developer's question whether an agent may have scopes from a principal.
-- `expires_in` is the grant's lifetime as the caller wrote it (`24h`); `expires_at` is when the request
-- itself closes.
create type auth_request_status as enum ('pending', 'approved', 'denied', 'cancelled', 'consumed',
  'expired');
create type consent_method as enum
  ('developer', 'email', 'sso', 'passkey', 'policy', 'sandbox', 'link', 'delegated');
create table auth_requests (
  developer_id          text not null references developers,
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
  primary key (developer_id, id),
  foreign key (developer_id, agent_id) references agents,
  -- An approval has a method, a time, and a time until which its code is good.
  check (status not in ('approved', 'consumed')
    or (consent_method is not null and decided_at is not null and code_expires_at is not null))
);
-- Revoking an agent cancels its open requests.
create index auth_requests_open on auth_requests (developer_id, agent_id)
  where status in ('pending', 'approved');
-- Finds requests that nobody decided or exchanged in time, across tenants and oldest first.
create index auth_requests_due on auth_requests (coalesce(code_expires_at, expires_at))
  where status in ('pending', 'approved');
