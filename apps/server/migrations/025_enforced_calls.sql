-- Owner: enforcement. Calls whose units the caps meter has taken, for the words `sent` and `refund` that follow. A call
-- id is of one agent, because a bound key must not speak of the calls of other agents.
create table enforced_calls (
  developer_id text not null references developers,
  call_id      text not null,
  agent_id     text not null,
  grant_id     text not null,
  created_at   timestamptz not null,
  primary key (developer_id, call_id, agent_id)
);
-- Finds the calls about which nothing more can be said, across tenants and the oldest first.
create index enforced_calls_old on enforced_calls (created_at);
