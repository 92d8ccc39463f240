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
