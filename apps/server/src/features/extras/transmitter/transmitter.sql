-- Registrations of receivers of one developer take turns, so that their number is exact.
create or replace function lock_receivers(p_developer_id text) returns void language sql as
$$ select pg_advisory_xact_lock(hashtextextended('ssf:' || p_developer_id, 0)) $$;

-- The write of a token that a receiver gets for its secret. The receiver is locked, so that no rotation comes between: a
-- token of a former secret ends no later than that secret.
create or replace function write_receiver_token(p_developer_id text, p_at timestamptz, p_write jsonb) returns text
  language plpgsql set enable_seqscan = off as
$$
declare
  made  ssf_tokens := jsonb_populate_record(null::ssf_tokens, p_write -> 'token');
  shown constant bytea := p_write ->> 'shown_hash';
begin
  perform from (select * from ssf_receivers
      where developer_id = p_developer_id and id = made.receiver_id offset 0 for share) receiver
    where secret_hash = shown
      or (previous_secret_hash = shown and previous_secret_expires_at > p_at
        and previous_secret_expires_at >= made.expires_at); -- outside, so that the key alone finds the row
  if not found then return 'secret_changed'; end if;
  insert into ssf_tokens select made.*;
  return null;
end
$$;
