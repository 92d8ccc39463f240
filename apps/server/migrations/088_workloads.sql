-- Owner: oauth. A client that shows a JWT of the platform that it runs on, in place of a secret or key of its own.
alter type oauth_auth_method add value if not exists 'workload_jwt';

-- Owner: workloads. Issuers whose JWTs identify an agent where it runs, and which of their JWTs do.
create table agent_workloads (
  developer_id  text not null,
  id            text not null,
  agent_id      text not null,
  issuer        text not null,
  jwks_uri      text not null,
  audience      text not null,
  subject       text not null,
  claims        jsonb not null,
  max_seconds   integer not null,
  allow_reuse   boolean not null,
  created_at    timestamptz not null,
  primary key (developer_id, id),
  foreign key (developer_id, agent_id) references agents
);
-- The workloads of an agent that authenticates.
create index agent_workloads_agent on agent_workloads (developer_id, agent_id, id);
