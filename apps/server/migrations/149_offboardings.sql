-- Owner: scim. Principals whom the developer has offboarded: nothing is given to them until they are admitted again.
create table closed_principals (
  developer_id text not null references developers,
  principal_id text not null,
  closed_at    timestamptz not null,
  primary key (developer_id, principal_id)
);

create type offboarded_kind as enum ('principal', 'agent');

-- Owner: offboarding. What an offboarding of a principal, or the revocation of an agent, has ended. `first_seq` to `seq` are
-- the entries of its transaction, and `hash` is that of the last. `ended` counts them by kind. `remaining` is what the
-- tables had of them that was still of use, counted in the same transaction. `upstream` has the credentials whose
-- services are told of the end.
create table offboardings (
  developer_id text not null references developers,
  id           text not null,
  kind         offboarded_kind not null,
  subject_id   text not null,
  first_seq    bigint not null,
  seq          bigint not null,
  hash         bytea not null check (octet_length(hash) = 32),
  ended        jsonb not null,
  remaining    jsonb not null,
  upstream     jsonb not null,
  ended_at     timestamptz not null,
  primary key (developer_id, id)
);
-- The last offboarding of somebody.
create index offboardings_subject on offboardings (developer_id, kind, subject_id, id);

-- Owner: connections. The open sessions that an agent has asked for, which end with it.
create index connect_sessions_agent on connect_sessions (developer_id, agent_id)
  where agent_id is not null and status in ('pending', 'started', 'returned');
-- Owner: approvers. Those who approve as a principal who leaves.
create index approvers_principal on approvers (developer_id, principal_id) where principal_id is not null;
