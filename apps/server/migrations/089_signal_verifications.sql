-- Owner: signals. Verification of the streams that the service makes.
alter table signal_sources
  add column verification_state    text,        -- sent back by the transmitter in its next verification
  add column verification_asked_at timestamptz,
  add column check_due_at          timestamptz, -- null where no verification can be asked for
  add column silent_since          timestamptz; -- told of, and no verification was heard since

-- The streams that are looked at next.
create index signal_sources_check on signal_sources (check_due_at) where check_due_at is not null;
