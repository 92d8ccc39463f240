-- The agent of an OAuth client that describes itself. It is proposed from the client's first request on, and becomes
-- an agent of the developer at the first approval.
alter table agents
  add column client_id text,
  add column is_proposed boolean not null default false,
  add check (not is_proposed or (client_id is not null and status = 'suspended'));
-- The agent of a client, of which a developer has one at a time.
create unique index agents_client on agents (developer_id, client_id)
  where client_id is not null and status <> 'revoked';

-- The OAuth client as it described itself when it asked; null for native requests.
alter table auth_requests add column client jsonb;
