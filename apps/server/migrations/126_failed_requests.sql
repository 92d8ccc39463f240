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
