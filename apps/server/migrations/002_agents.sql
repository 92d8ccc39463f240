-- Owner: agents. A revoked agent keeps its row, because audit entries and grants name it.
create type agent_status as enum ('active', 'suspended', 'revoked');
create table agents (
  developer_id   text not null references developers,
  id             text not null,
  did            text not null,
  name           text not null,
  description    text not null,
  scopes         text[] not null,
  status         agent_status not null,
  public_key_jwk jsonb,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  primary key (developer_id, id)
);
-- The default list. It must not slow down as revoked agents pile up.
create index agents_not_revoked on agents (developer_id, id) where status <> 'revoked';

-- Owner: agents. A request for a DID document names only the agent's id. This table finds the tenant.
create table agent_index (
  agent_id     text primary key,
  developer_id text not null,
  foreign key (developer_id, agent_id) references agents
);
