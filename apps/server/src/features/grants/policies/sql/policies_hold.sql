-- Whether a developer's policies are those of a version, and stay so until the commit. Requests do not wait for each
-- other. The lock comes first: the version is read as it is then.
create or replace function policies_hold(p_developer_id text, p_version text) returns boolean language plpgsql as
$$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended('policies:' || p_developer_id, 0));
  return policies_version(p_developer_id) is not distinct from p_version::bigint;
end
$$;
