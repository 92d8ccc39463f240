-- Owner: signals. Streams that the service makes at the transmitter, and those that it polls.
alter table signal_sources
  add column delivery       text not null default 'push',
  add column auth_type      text,
  add column auth           bytea,                      -- the service's credential at the transmitter, sealed
  add column seal_key_id    text,
  add column stream         jsonb,                      -- {id, configurationEndpoint, verificationEndpoint, pollEndpoint}
  add column poll_due_at    timestamptz,                -- null for a push; the instance that polls moves it on first
  add column poll_failures  integer not null default 0, -- since the last poll that went well
  add column last_polled_at timestamptz,
  add column last_error     text;

-- The streams that are polled next.
create index signal_sources_poll on signal_sources (poll_due_at) where poll_due_at is not null;
