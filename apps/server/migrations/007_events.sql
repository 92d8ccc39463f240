-- Owner: events. The outbox. `envelope` is the exact text that every subscriber receives, because it is
-- signed byte for byte. A developer's events have the order of their commits: an append gives `seq` under the
-- lock of the chain head and holds the lock until the commit, so a reader that has seen a number has missed
-- none below it. (Event ids come from clocks, and a transaction may commit after another that began later.)
create table outbox_events (
  developer_id text not null,
  seq          bigint not null,
  id           text not null,
  type         text not null,
  envelope     text not null,
  created_at   timestamptz not null,
  -- The agent that an event names, for consumers with a bound key.
  agent_id     text,
  primary key (developer_id, seq)
) with (autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.05);
create unique index outbox_events_developer_id_id_key on outbox_events (developer_id, id) where id is not null;

-- Owner: webhooks. The URLs at which a developer receives events. All secrets of a row are sealed under the
-- key that `seal_key_id` names; the former secret still signs until its time is over. `is_prompt` says that
-- the last attempt was delivered quickly. Each delivery updates a row here, so a page has room for new
-- versions of its rows.
create type webhook_status as enum ('active', 'disabled');
-- The form in which an endpoint gets events: the envelope, or an event of OCSF, which a SIEM reads.
create type webhook_format as enum ('envelope', 'ocsf');
-- A stream of signals (SSF) sends from the queue of the webhooks: its endpoint has the stream's id, and no URL when its
-- receiver fetches the signals. `holding` waits while the stream is paused, and `off` takes nothing.
create type stream_state as enum ('open', 'holding', 'off');
create table webhook_endpoints (
  developer_id               text not null references developers,
  id                         text not null,
  url                        text not null,
  events                     text[] not null,
  description                text not null,
  status                     webhook_status not null,
  max_attempts               integer not null,
  secret                     bytea not null,
  previous_secret            bytea,
  seal_key_id                text not null,
  secret_rotated_at          timestamptz,
  previous_secret_expires_at timestamptz,
  -- A new endpoint begins in the prompt lane, with one place until its first delivery.
  is_prompt                  boolean not null default true,
  last_delivery_at           timestamptz,
  created_at                 timestamptz not null,
  updated_at                 timestamptz not null,
  format                     webhook_format not null default 'envelope',
  -- `status` of such an endpoint is `disabled`, so that instances of the release before never send from it.
  stream_state               stream_state,
  -- Attempts in a row that were not delivered, and the first of them.
  failures                   integer not null default 0,
  failing_since              timestamptz,
  primary key (developer_id, id)
) with (fillfactor = 70);
-- Finds streams that have failed for a day, across tenants.
create index webhook_endpoints_failing on webhook_endpoints (failing_since) where stream_state = 'open';

-- Owner: webhooks. One row for each event on its way to an endpoint, with its own copy of the text, because
-- rows here outlive the outbox. `url` is set when the delivery is final; until then the endpoint's URL
-- counts. The holder of the lease is sending. The id begins with the time, so a page of an endpoint's history
-- is a range of the primary key. `is_prompt` names the lane in which a delivery waits: that of endpoints
-- which answered quickly, or the other. A look for due deliveries in the first lane therefore passes over
-- none of the second, however many endpoints are dead.
create type webhook_delivery_status as enum ('pending', 'delivered', 'failed');
create table webhook_deliveries (
  developer_id     text not null,
  webhook_id       text not null,
  id               text not null,
  event_id         text not null,
  event_type       text not null,
  envelope         text not null,
  status           webhook_delivery_status not null default 'pending',
  attempts         integer not null default 0,
  max_attempts     integer not null,
  url              text,
  last_error       text,
  last_status_code smallint,
  created_at       timestamptz not null,
  last_attempt_at  timestamptz,
  next_attempt_at  timestamptz,
  delivered_at     timestamptz,
  leased_until     timestamptz,
  is_prompt        boolean not null default false,
  -- The signals of one subject go one after another, by the numbers of their events. `actor` and `txn` tell the cause.
  subject          text,
  seq              bigint,
  actor            text,
  txn              text,
  -- The latest attempts at a delivery, oldest first: `n`, `at`, `statusCode`, `error`, `durationMs`.
  attempt_log      jsonb not null default '[]',
  primary key (developer_id, webhook_id, id)
) with (autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.05);
-- Claiming: the endpoints of a lane with deliveries to send, and the first due delivery of each.
create index webhook_deliveries_pending on webhook_deliveries (is_prompt, developer_id, webhook_id, next_attempt_at)
  where status = 'pending';
-- Deletes deliveries that are past their time, across tenants.
create index webhook_deliveries_old on webhook_deliveries (created_at);
-- GET /v1/webhooks/:id/deliveries?status=failed. Failed deliveries are few among many.
create index webhook_deliveries_failed on webhook_deliveries (developer_id, webhook_id, id)
  where status = 'failed' and webhook_id is not null;
-- Claiming: how many deliveries of an endpoint are being sent.
create index webhook_deliveries_leased on webhook_deliveries (developer_id, webhook_id, leased_until)
  where leased_until is not null and webhook_id is not null;
-- The news of a stream itself, which a paused stream sends while it holds everything else.
create index webhook_deliveries_news on webhook_deliveries (developer_id, webhook_id, seq, id)
  where status = 'pending' and seq is not null and event_type = 'ssf.stream_updated' and webhook_id is not null;
-- Polls, and the limit of what a stream holds: the waiting signals of a stream, the oldest first.
create index webhook_deliveries_sets on webhook_deliveries (developer_id, webhook_id, seq, id)
  where status = 'pending' and seq is not null and webhook_id is not null;
-- Claiming: whether an earlier signal of the same subject waits.
create index webhook_deliveries_subject on webhook_deliveries (developer_id, webhook_id, subject, seq, id)
  where status = 'pending' and seq is not null and webhook_id is not null;

-- Owner: transmitter. Systems that may listen to a developer's signals. A receiver is an OAuth client, whose secret is
-- stored as its hash; the former secret holds until its time is over.
create type ssf_subject_format as enum ('iss_sub', 'email');
create type ssf_subject_shape as enum ('complex', 'simple');
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
-- Deletes tokens that are past their time, across tenants.
create index ssf_tokens_old on ssf_tokens (expires_at);
-- Replacing the static token, and deleting a receiver.
create index ssf_tokens_receiver on ssf_tokens (developer_id, receiver_id) where receiver_id is not null;

-- Owner: transmitter. Streams, as their receivers configured them. The endpoint of the same id holds the address, the
-- sealed header and the queue.
create type ssf_stream_method as enum ('push', 'poll');
create type ssf_stream_status as enum ('enabled', 'paused', 'disabled');
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
-- Finds streams whose receiver has stopped polling, across tenants.
create index ssf_streams_inactive on ssf_streams (polled_at) where method = 'poll' and status = 'enabled';
-- The streams of a receiver, in the order of their making.
create index ssf_streams_receiver on ssf_streams (developer_id, receiver_id, id) where receiver_id is not null;
