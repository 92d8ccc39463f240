-- The version of a developer's policies, 0 before the first. The reads and writes of the request path ask for it, and
-- Postgres makes it a part of their statements.
create or replace function policies_version(p_developer_id text) returns bigint language sql stable as
$$
  select coalesce((select v.version from policy_versions v where v.developer_id = p_developer_id), 0)
$$;
