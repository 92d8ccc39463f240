-- A stream of signals (SSF) sends from the queue of the webhooks: its endpoint has the stream's id, and no URL when its
-- receiver fetches the signals. `holding` waits while the stream is paused, and `off` takes nothing.
create type stream_state as enum ('open', 'holding', 'off');
-- `status` of such an endpoint is `disabled`, so that instances of the release before never send from it.
alter table webhook_endpoints add column stream_state stream_state;
-- Attempts in a row that were not delivered, and the first of them.
alter table webhook_endpoints add column failures integer not null default 0;
alter table webhook_endpoints add column failing_since timestamptz;

-- The signals of one subject go one after another, by the numbers of their events. `actor` and `txn` tell the cause.
alter table webhook_deliveries add column subject text;
alter table webhook_deliveries add column seq bigint;
alter table webhook_deliveries add column actor text;
alter table webhook_deliveries add column txn text;
-- Polls, and the limit of what a stream holds: the waiting signals of a stream, the oldest first.
create index webhook_deliveries_sets on webhook_deliveries (developer_id, webhook_id, seq, id)
  where status = 'pending' and seq is not null;
-- Claiming: whether an earlier signal of the same subject waits.
create index webhook_deliveries_subject on webhook_deliveries (developer_id, webhook_id, subject, seq, id)
  where status = 'pending' and seq is not null;
-- Finds streams that have failed for a day, across tenants.
create index webhook_endpoints_failing on webhook_endpoints (failing_since) where stream_state = 'open';

create type ssf_subject_format as enum ('iss_sub', 'email');
create type ssf_subject_shape as enum ('complex', 'simple');

-- Owner: transmitter. Systems that may listen to a developer's signals. A receiver is an OAuth client, whose secret is
-- stored as its hash; the former secret holds until its time is over.
create table ssf_receivers (
  developer_id   text not null references developers,
  id             text not null,
  name           text not null,
  audience       text not null,
  events         text[] not null,
  subject_format ssf_subject_format not null,
  subject_shape  ssf_subject_shape not null,
  static_token   boolean not null,
  secret_hash    bytea not null,
  previous_secret_hash       bytea,
  previous_secret_expires_at timestamptz,
  secret_rotated_at          timestamptz,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  primary key (developer_id, id)
);
-- No two receivers have one audience, whichever developers they belong to.
create unique index ssf_receivers_audience on ssf_receivers (audience);
-- Authentication: the receiver that a client id names, across tenants.
create unique index ssf_receivers_client on ssf_receivers (id);

-- Owner: transmitter. Access tokens of receivers, stored as their hashes.
create table ssf_tokens (
  developer_id text not null,
  hash         bytea not null,
  receiver_id  text not null,
  scopes       text[] not null,
  is_static    boolean not null,
  expires_at   timestamptz not null,
  primary key (developer_id, hash),
  foreign key (developer_id, receiver_id) references ssf_receivers on delete cascade
);
-- Authentication: the token of a hash, across tenants.
create unique index ssf_tokens_hash on ssf_tokens (hash);
-- Replacing the static token, and deleting a receiver.
create index ssf_tokens_receiver on ssf_tokens (developer_id, receiver_id);
-- Deletes tokens that are past their time, across tenants.
create index ssf_tokens_old on ssf_tokens (expires_at);

create type ssf_stream_method as enum ('push', 'poll');
create type ssf_stream_status as enum ('enabled', 'paused', 'disabled');

-- Owner: transmitter. Streams, as their receivers configured them. The endpoint of the same id holds the address, the
-- sealed header and the queue.
create table ssf_streams (
  developer_id     text not null,
  id               text not null,
  receiver_id      text not null,
  events_requested text[],
  description      text,
  method           ssf_stream_method not null,
  status           ssf_stream_status not null,
  status_reason    text,
  verification_asked_at timestamptz,
  -- A stream that is never polled is inactive since it was made, or began to be polled.
  polled_at        timestamptz,
  created_at       timestamptz not null,
  updated_at       timestamptz not null,
  primary key (developer_id, id),
  foreign key (developer_id, receiver_id) references ssf_receivers
);
-- The streams of a receiver, in the order of their making.
create index ssf_streams_receiver on ssf_streams (developer_id, receiver_id, id);
-- Finds streams that nobody polls any longer, across tenants.
create index ssf_streams_inactive on ssf_streams (polled_at) where method = 'poll' and status = 'enabled';
