-- The credentials that will fall with those of grants although they are about other grants: passports below passports.
-- They are locked, and so are those above them, and stay the same until the commit.
create or replace function credentials_beside(p_developer_id text, p_grant_ids text[])
  returns text[] language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off as
$$
declare
  held   text[];
  beside text[];
begin
  select array_agg(id order by id) into held from verifiable_credentials
    where developer_id = p_developer_id and grant_id = any (p_grant_ids) and revoked_at is null;
  if held is null then return '{}'; end if;
  held := hold_credentials(p_developer_id, held);
  select coalesce(array_agg(id order by id), '{}') into beside from verifiable_credentials
    where developer_id = p_developer_id and id = any (held) and revoked_at is null and grant_id <> all (p_grant_ids);
  return beside;
end
$$;
