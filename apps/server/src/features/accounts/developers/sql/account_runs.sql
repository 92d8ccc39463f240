-- Whether a developer's account is not stopped, and stays so until the commit. Writes that need it do not wait for each
-- other; a stop waits for them, and they for it (`lock_account`). The lock comes first: the account is read as it is then.
create or replace function account_runs(p_developer_id text) returns boolean language plpgsql as
$$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended('account:' || p_developer_id, 0));
  return exists (select from developers where id = p_developer_id and stopped_at is null);
end
$$;
