-- Sets the counter to the exact number, for rows that run out without a write: the transaction that records their end
-- cannot tell whether the counter still has them. The lock makes others wait, as in take_quota, so the count misses none.
create or replace function recount_quota(p_developer_id text, p_resource text, p_at timestamptz)
  returns void language plpgsql as
$$
begin
  perform from quota_counters where developer_id = p_developer_id and resource = p_resource for update;
  update quota_counters set used = exact_use(p_developer_id, p_resource, p_at)
    where developer_id = p_developer_id and resource = p_resource;
end
$$;
