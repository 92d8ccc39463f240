-- Revokes the credentials of grants, and sets their bits. Lists are locked in the order of their ids, after the grants.
create or replace function revoke_credentials_of(p_developer_id text, p_at timestamptz, p_grant_ids text[])
  returns void language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off as
$$
declare
  ended text[];
begin
  select array_agg(id order by id) into ended from verifiable_credentials
    where developer_id = p_developer_id and grant_id = any (p_grant_ids) and revoked_at is null;
  if ended is not null then perform revoke_credentials(p_developer_id, p_at, ended); end if;
end
$$;
