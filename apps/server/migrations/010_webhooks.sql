create type webhook_status as enum ('active', 'disabled');
create type webhook_delivery_status as enum ('pending', 'delivered', 'failed');

-- Owner: webhooks. Where a developer wants to be told of events. Secrets are sealed, all of a row under the key that
-- `seal_key_id` names; the former one still signs until its time is over. `is_prompt` says that the last attempt was
-- delivered, and soon. Each delivery updates a row here, so a page has room for new versions of its rows.
create table webhook_endpoints (
  developer_id    text not null references developers,
  id              text not null,
  url             text not null,
  events          text[] not null,
  description     text not null,
  status          webhook_status not null,
  max_attempts    integer not null,
  secret          bytea not null,
  previous_secret bytea,
  seal_key_id     text not null,
  secret_rotated_at          timestamptz,
  previous_secret_expires_at timestamptz,
  is_prompt        boolean not null default false,
  last_delivery_at timestamptz,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  primary key (developer_id, id)
) with (fillfactor = 70);

-- Owner: webhooks. One row for each event that an endpoint is to be told of, with its own copy of the text, because
-- rows here outlive the outbox. `url` is set when it is final: until then the endpoint's counts. The holder of the lease
-- is sending. The id begins with the time, so a page of an endpoint's history is a range of the primary key. `is_prompt`
-- says in which lane a delivery waits, that of endpoints which answered soon or the other one, so that a look for
-- deliveries that are due in the first passes over none of the second, however many endpoints are dead.
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
  primary key (developer_id, webhook_id, id)
);
-- Claiming: which endpoints of a lane have anything to send, and of each what is due first.
create index webhook_deliveries_pending on webhook_deliveries (is_prompt, developer_id, webhook_id, next_attempt_at)
  where status = 'pending';
-- Claiming: how many of an endpoint are being sent.
create index webhook_deliveries_leased on webhook_deliveries (developer_id, webhook_id, leased_until)
  where leased_until is not null;
-- GET /v1/webhooks/:id/deliveries?status=failed, which are few among many.
create index webhook_deliveries_failed on webhook_deliveries (developer_id, webhook_id, id) where status = 'failed';
-- Deleting what is past its time, across tenants.
create index webhook_deliveries_old on webhook_deliveries (created_at);
