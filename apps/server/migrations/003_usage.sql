-- Owner: quotas. The used part of each quota. The transactions that create and end things update it. It may
-- lag behind expiry: only a caller that meets the quota has the use counted exactly (see take_quota).
create table quota_counters (
  developer_id text not null references developers,
  resource     text not null,
  used         bigint not null,
  primary key (developer_id, resource)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- Owner: usage. How often a developer used the service on a day (UTC). Each process adds what it has counted every second.
-- It refers to no developer: one account must not keep the counts of the others from being written.
create table usage_daily (
  developer_id    text not null,
  day             date not null,
  token_exchanges bigint not null default 0,
  authorizations  bigint not null default 0,
  verifications   bigint not null default 0,
  -- Calls of the vault proxy that an upstream answered. They are outside the sum of the day.
  proxy_calls     bigint not null default 0,
  primary key (developer_id, day)
);

-- Owner: insights. How often something happened in an hour (UTC). Each process adds what it has counted every second. It
-- refers to no developer: one account must not keep the counts of the others from being written.
create table activity_counts (
  developer_id text not null,
  metric       text not null,
  hour         timestamptz not null,
  count        bigint not null,
  primary key (developer_id, metric, hour)
);
-- Deletes counts that are past their time, across tenants.
create index activity_counts_old on activity_counts (hour);

-- Owner: insights. When counting began for accounts that are older than the counts. All others are counted from their
-- beginning.
create table activity_starts (
  developer_id text primary key,
  since        timestamptz not null
);

-- Owner: requests. Refused requests with API keys, for 72 hours. Each process writes what it has gathered every second, and
-- of each developer about 10,000 a day at most, so a page reads few rows however it filters. It refers to no developer:
-- one account must not keep the rows of the others from being written.
create table failed_requests (
  developer_id text not null,
  id           text not null,
  request_id   text not null,
  at           timestamptz not null,
  operation_id text not null,
  method       text not null,
  route        text not null,
  status       smallint not null,
  code         text not null,
  sub_reason   text,
  agent_id     text,
  key_id       text,
  duration_ms  integer not null,
  primary key (developer_id, id)
);
-- GET /v1/requests/:requestId.
create index failed_requests_of_request on failed_requests (developer_id, request_id, id);
-- Deletes rows that are past their time, across tenants.
create index failed_requests_old on failed_requests (at);

-- Owner: requests. How many requests failed in an hour (UTC), also those without a row of their own.
create table failed_request_counts (
  developer_id    text not null,
  hour            timestamptz not null,
  code            text not null,
  operation_id    text not null,
  count           bigint not null,
  recorded        bigint not null,
  last_at         timestamptz not null,
  last_request_id text not null,
  primary key (developer_id, hour, code, operation_id)
);
-- Deletes counts that are past their time, across tenants.
create index failed_request_counts_old on failed_request_counts (hour);

-- Owner: platform/http/idempotency. The answers to requests with an Idempotency-Key, kept for repeats.
-- `answer_key` is a hash of developer, caller, method, path and key; `fingerprint` is a hash of query and body.
-- `body` is sealed, because answers hold keys, tokens and codes. The hash has the caller, so an answer is found by the API
-- key alone that got it.
create table idempotent_answers (
  developer_id text not null references developers,
  answer_key   bytea not null,
  fingerprint  bytea not null,
  status       smallint not null,
  body         bytea not null,
  expires_at   timestamptz not null,
  primary key (developer_id, answer_key)
);
-- Finds expired answers, across tenants.
create index idempotent_answers_due on idempotent_answers (expires_at);
