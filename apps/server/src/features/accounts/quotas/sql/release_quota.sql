-- Gives back what ended. Never below zero, since an exact count may have left out grants that had expired.
create or replace function release_quota(p_developer_id text, p_resource text, p_count bigint)
  returns void language sql as
$$
  update quota_counters set used = greatest(0, used - p_count)
    where developer_id = p_developer_id and resource = p_resource;
$$;
