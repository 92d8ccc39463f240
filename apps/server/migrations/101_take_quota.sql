-- Owner: quotas. Counts one more, unless that is over the limit (null: none). On the common path nothing is
-- counted but the counter. Who meets the limit holds the counter's lock (a conflicting row is locked even
-- when `where` then refuses it), so the exact number it takes is nobody else's, and a refusal is exact.
-- Reads tables of agents and grants.
create function take_quota(p_developer_id text, p_resource text, p_limit bigint, p_at timestamptz)
  returns boolean language plpgsql as
$$
declare exact bigint;
begin
  insert into quota_counters as counter values (p_developer_id, p_resource, 0) on conflict do nothing;
  update quota_counters set used = used + 1
    where developer_id = p_developer_id and resource = p_resource and (p_limit is null or used < p_limit);
  if found then return true; end if;

  perform from quota_counters where developer_id = p_developer_id and resource = p_resource for update;
  exact := exact_use(p_developer_id, p_resource, p_at);
  update quota_counters set used = exact + (exact < p_limit)::integer
    where developer_id = p_developer_id and resource = p_resource;
  return exact < p_limit;
end
$$;

create function exact_use(p_developer_id text, p_resource text, p_at timestamptz)
  returns bigint language plpgsql stable as
$$
begin
  return case p_resource
    when 'agents' then (select count(*) from agents where developer_id = p_developer_id and status <> 'revoked')
    when 'active_grants' then (select count(*) from grants
      where developer_id = p_developer_id and status = 'active' and expires_at > p_at)
  end;
end
$$;

create function release_quota(p_developer_id text, p_resource text, p_count bigint)
  returns void language sql as
$$
  update quota_counters set used = greatest(0, used - p_count)
    where developer_id = p_developer_id and resource = p_resource;
$$;
