-- Gives back the quota of ended rows. The counter stays at zero or above, since an exact count may have left out
-- expired grants.
create or replace function release_quota(p_developer_id text, p_resource text, p_count bigint)
  returns void language sql as
$$
  update quota_counters set used = greatest(0, used - p_count)
    where developer_id = p_developer_id and resource = p_resource;
$$;
