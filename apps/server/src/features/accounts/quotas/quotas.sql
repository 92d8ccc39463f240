-- Counts how much of a resource is in use. Each feature that declares a quota counts its own rows in a function
-- `count_<resource>(developer_id, at)`, which this function calls by its name.
create or replace function exact_use(p_developer_id text, p_resource text, p_at timestamptz)
  returns bigint language plpgsql stable as
$$
declare exact bigint;
begin
  execute format('select %I($1, $2)', 'count_' || p_resource) into exact using p_developer_id, p_at;
  return exact;
end
$$;

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

-- Gives back the quota of ended rows. The counter stays at zero or above, since an exact count may have left out
-- expired grants.
create or replace function release_quota(p_developer_id text, p_resource text, p_count bigint)
  returns void language sql as
$$
  update quota_counters set used = greatest(0, used - p_count)
    where developer_id = p_developer_id and resource = p_resource;
$$;

-- Counts one more, unless that is over the limit (null means unlimited). The common path only changes the counter. At
-- the limit, and where there is no counter yet, the caller locks the counter and counts the rows. The lock makes others
-- wait, so a refusal is exact.
create or replace function take_quota(p_developer_id text, p_resource text, p_limit bigint, p_at timestamptz)
  returns boolean language plpgsql as
$$
declare
  exact bigint;
  fits  boolean;
begin
  update quota_counters set used = used + 1
    where developer_id = p_developer_id and resource = p_resource and (p_limit is null or used < p_limit);
  if found then return true; end if;

  insert into quota_counters values (p_developer_id, p_resource, 0) on conflict do nothing;
  perform from quota_counters where developer_id = p_developer_id and resource = p_resource for update;
  exact := exact_use(p_developer_id, p_resource, p_at);
  fits := p_limit is null or exact < p_limit;
  update quota_counters set used = exact + fits::integer where developer_id = p_developer_id and resource = p_resource;
  return fits;
end
$$;
