create type webhook_status as enum ('active', 'disabled');
create type webhook_delivery_status as enum ('pending', 'delivered', 'failed');

-- Owner: webhooks. The URLs at which a developer receives events. All secrets of a row are sealed under the
-- key that `seal_key_id` names; the former secret still signs until its time is over. `is_prompt` says that
-- the last attempt was delivered quickly. Each delivery updates a row here, so a page has room for new
-- versions of its rows.
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

-- Owner: webhooks. One row for each event on its way to an endpoint, with its own copy of the text, because
-- rows here outlive the outbox. `url` is set when the delivery is final; until then the endpoint's URL
-- counts. The holder of the lease is sending. The id begins with the time, so a page of an endpoint's history
-- is a range of the primary key. `is_prompt` names the lane in which a delivery waits: that of endpoints
-- which answered quickly, or the other. A look for due deliveries in the first lane therefore passes over
-- none of the second, however many endpoints are dead.
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
-- Claiming: the endpoints of a lane with deliveries to send, and the first due delivery of each.
create index webhook_deliveries_pending on webhook_deliveries (is_prompt, developer_id, webhook_id, next_attempt_at)
  where status = 'pending';
-- Claiming: how many deliveries of an endpoint are being sent.
create index webhook_deliveries_leased on webhook_deliveries (developer_id, webhook_id, leased_until)
  where leased_until is not null;
-- GET /v1/webhooks/:id/deliveries?status=failed. Failed deliveries are few among many.
create index webhook_deliveries_failed on webhook_deliveries (developer_id, webhook_id, id) where status = 'failed';
-- Deletes deliveries that are past their time, across tenants.
create index webhook_deliveries_old on webhook_deliveries (created_at);
