-- Owner: platform/http/idempotency. The answers to requests with an Idempotency-Key, kept for repeats.
-- `answer_key` is a hash of developer, method, path and key; `fingerprint` is a hash of query and body.
-- `body` is sealed, because answers hold keys, tokens and codes. `role` is the role of the API key that got
-- the answer.
create table idempotent_answers (
  developer_id text not null references developers,
  answer_key   bytea not null,
  fingerprint  bytea not null,
  role         key_role not null,
  status       smallint not null,
  body         bytea not null,
  expires_at   timestamptz not null,
  primary key (developer_id, answer_key)
);
-- Finds expired answers, across tenants.
create index idempotent_answers_due on idempotent_answers (expires_at);
