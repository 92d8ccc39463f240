-- Whether a developer's account is not stopped, and stays so until the commit. Writes that need it do not wait for each
-- other; a stop waits for them, and they for it (`lock_account`). The lock comes first: the account is read as it is then.
create or replace function account_runs(p_developer_id text) returns boolean language plpgsql as
$$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended('account:' || p_developer_id, 0));
  return exists (select from developers where id = p_developer_id and stopped_at is null);
end
$$;

-- Stopping and resuming an account takes turns with every write of `account_runs`, so no entry of such a write follows
-- the entry of the stop.
create or replace function lock_account(p_developer_id text) returns void language sql as
$$ select pg_advisory_xact_lock(hashtextextended('account:' || p_developer_id, 0)) $$;

-- The status by which an agent is judged: that of its row, and `suspended` for an active one of a stopped account. The
-- planner writes its text into the statements that call it.
create or replace function standing(p_developer_id text, p_status agent_status, p_stopped_at timestamptz)
  returns agent_status language sql immutable as
$$ select case when p_status = 'active' and p_stopped_at is not null then 'suspended' else p_status end $$;
