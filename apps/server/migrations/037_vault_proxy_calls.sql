-- Owner: proxy. A request that was passed on, made with its audit entry, and what came of it, which is known only later.
-- Rows are deleted after thirty days.
create table vault_proxy_calls (
  developer_id   text not null references developers,
  id             text not null,
  agent_id       text not null,
  grant_id       text not null,
  credential_id  text not null,
  service        text not null,
  upstream       text not null,
  method         text not null,
  rule           text not null,
  tool           text,
  status         smallint,
  outcome        text,
  response_bytes bigint,
  duration_ms    integer,
  created_at     timestamptz not null,
  primary key (developer_id, id)
);
-- The job that forgets old calls.
create index vault_proxy_calls_old on vault_proxy_calls (created_at);
