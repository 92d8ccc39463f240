-- The one door to the audit log and the outbox, and through `deliver_events` to the webhooks. The deliveries are made
-- by a second statement, which sees every endpoint that was committed before the chain's head was locked.
create or replace function record_acts(p_developer_id text, p_at timestamptz, p_acts jsonb)
  returns table (id text, seq bigint, "timestamp" text, prev_hash text, hash text)
  language plpgsql as
$$
begin
  return query select * from audit_append(p_developer_id, p_at, p_acts);
  perform deliver_events(p_developer_id, p_at, p_acts);
end
$$;
