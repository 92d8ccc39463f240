-- Revokes the active grants of a tree. The caller has read the tree to prepare an act for each grant. When the tree has
-- changed since, the function writes nothing and returns `changed`, and the caller reads again. Rows are locked in
-- order of id. The quota gets back only unexpired grants, because an exact count leaves out expired grants. The
-- caller passes at most a thousand grants, all of which may be roots. With `endsOthers` false the function also returns
-- `changed` where passports about further grants would fall, for which the caller has prepared no acts.
create or replace function revoke_tree(p_developer_id text, p_at timestamptz, p_write jsonb) returns text
  language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off
  set enable_hashjoin = off set enable_mergejoin = off set enable_material = off
  set join_collapse_limit = 1 as
$$
declare
  root_ids     text[] := array(select jsonb_array_elements_text(p_write -> 'rootIds'));
  expected_ids text[] := array(select id from jsonb_array_elements_text(p_write -> 'expectedIds') id order by id);
  reason       revoked_reason := p_write ->> 'reason';
  active_ids   text[];
  living       bigint;
  fallen       text;
begin
  perform lock_delegation(p_developer_id);
  select coalesce(array_agg(id order by id), '{}'), count(*) filter (where expires_at > p_at)
    into active_ids, living from (
    select g.id, g.expires_at
      from (select t.id from grant_tree(p_developer_id, root_ids) t order by t.id) tree
      join grants g on g.developer_id = p_developer_id and g.id = tree.id
      where g.status <> 'revoked' order by g.id for update of g
  ) locked;
  if active_ids <> expected_ids then return 'changed'; end if;
  if p_write -> 'endsOthers' = 'false' and cardinality(credentials_beside(p_developer_id, active_ids)) > 0 then
    return 'changed';
  end if;

  foreach fallen in array active_ids loop
    update grants set status = 'revoked', revoked_at = p_at,
      revoked_reason = case when p_write -> 'rootIds' ? fallen then reason else 'parent' end
      where developer_id = p_developer_id and id = fallen;
  end loop;
  perform revoke_credentials_of(p_developer_id, p_at, active_ids);
  perform release_quota(p_developer_id, 'active_grants', living);
  return null;
end
$$;
