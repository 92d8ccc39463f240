-- Called by exact_use, where a plan's limit is met.
create or replace function count_policies(p_developer_id text, p_at timestamptz) returns bigint language sql stable as
$$
  select count(*) from policies where developer_id = p_developer_id
$$;

-- Changes of a developer's policies take turns with each other, and with the writes that a decision lets pass. So in the
-- audit chain nothing that a policy denies follows the policy. See policies_hold.
create or replace function lock_policies(p_developer_id text) returns void language sql as
$$ select pg_advisory_xact_lock(hashtextextended('policies:' || p_developer_id, 0)) $$;

-- Whether a developer's policies are those of a version, and stay so until the commit. Requests do not wait for each
-- other. The lock comes first: the version is read as it is then.
create or replace function policies_hold(p_developer_id text, p_version text) returns boolean language plpgsql as
$$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended('policies:' || p_developer_id, 0));
  return policies_version(p_developer_id) is not distinct from p_version::bigint;
end
$$;

-- The version of a developer's policies, 0 before the first. The reads and writes of the request path ask for it, and
-- Postgres makes it a part of their statements.
create or replace function policies_version(p_developer_id text) returns bigint language sql stable as
$$
  select coalesce((select v.version from policy_versions v where v.developer_id = p_developer_id), 0)
$$;
