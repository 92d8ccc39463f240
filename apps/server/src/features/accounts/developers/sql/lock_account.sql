-- Stopping and resuming an account takes turns with every write of `account_runs`, so no entry of such a write follows
-- the entry of the stop.
create or replace function lock_account(p_developer_id text) returns void language sql as
$$ select pg_advisory_xact_lock(hashtextextended('account:' || p_developer_id, 0)) $$;
