-- Writes acts to the audit log and the outbox, and their deliveries to the webhooks. A second statement makes
-- the deliveries, so it sees every endpoint that was committed before the chain's head was locked.
create or replace function record_acts(p_developer_id text, p_at timestamptz, p_acts jsonb)
  returns table (id text, seq bigint, "timestamp" text, prev_hash text, hash text)
  language plpgsql as
$$
begin
  return query select * from audit_append(p_developer_id, p_at, p_acts);
  perform deliver_events(p_developer_id, p_at, p_acts);
end
$$;
