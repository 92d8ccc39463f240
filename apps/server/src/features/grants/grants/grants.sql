-- exact_use calls this when the counter has reached the plan's limit.
create or replace function count_active_grants(p_developer_id text, p_at timestamptz) returns bigint language sql stable as
$$
  select count(*) from grants where developer_id = p_developer_id and status = 'active' and expires_at > p_at
$$;

-- Called by exact_use, where a plan's limit is met. Each exchange of a code made a grant without a parent. An id begins with
-- its time, so the key finds the grants of the month.
create or replace function count_token_exchanges(p_developer_id text, p_at timestamptz) returns bigint
  language sql stable as
$$
  select count(*) from grants
    where developer_id = p_developer_id and id >= 'grnt_' || ulid_time(date_trunc('month', p_at, 'utc'))
      and parent_grant_id is null
$$;

-- The authorization details of every grant above a delegated grant. A chain of delegations has eleven grants at most.
create or replace function details_above(p_developer_id text, p_grant_id text)
  returns table (details jsonb) language sql stable as
$$
  with recursive above as (
    select g.parent_grant_id, null::jsonb as details from grants g
      where g.developer_id = p_developer_id and g.id = p_grant_id
    union all
    select parent.parent_grant_id, parent.authorization_details from above join grants parent
      on parent.developer_id = p_developer_id and parent.id = above.parent_grant_id
  )
  select a.details from above a where a.details is not null
$$;

-- The active grants of a tree, parents first. A revocation of the roots ends exactly these. Postgres plans once, since
-- planning for each list of roots would take longer than the walk. The settings below fix the order of joins and the
-- use of keys: without them, a plan made while the tables were small compares each grant of an agent with each grant
-- of the tree, which takes far too long for ten thousand grants.
create or replace function find_active_tree(p_developer_id text, p_root_ids text[])
  returns table (id text, cause_id text, root_grant_id text, agent_id text, agent_did text, principal_id text,
    purpose text)
  language plpgsql stable set plan_cache_mode = force_generic_plan set enable_seqscan = off
  set enable_hashjoin = off set enable_mergejoin = off set enable_material = off
  set join_collapse_limit = 1 as
$$
begin
  return query
    select g.id, tree.cause_id, g.root_grant_id, g.agent_id, a.did, g.principal_id, g.purpose
    from grant_tree(p_developer_id, p_root_ids) tree
    join grants g on g.developer_id = p_developer_id and g.id = tree.id
    join agents a on a.developer_id = p_developer_id and a.id = g.agent_id
    where g.status <> 'revoked' order by g.delegation_depth, g.id;
end
$$;

-- A grant with its agent's DID.
create or replace function find_grant(p_developer_id text, p_grant_id text)
  returns table (held grants, agent_did text) language plpgsql stable set enable_seqscan = off as
$$
begin
  select * into held from grants g where g.developer_id = p_developer_id and g.id = p_grant_id;
  if not found then return; end if;
  select a.did into agent_did from agents a where a.developer_id = p_developer_id and a.id = held.agent_id;
  return next;
end
$$;

-- Every grant at or below the roots, whatever the state of the grants in between. The cause of a grant is the root
-- whose revocation ends it: itself, or the nearest root above it. A hash of the roots tells whether a child is a root
-- itself, because an agent may have tens of thousands of grants and have delegated each.
create or replace function grant_tree(p_developer_id text, p_root_ids text[])
  returns table (id text, cause_id text) language sql stable as
$$
  with recursive tree as (
    select g.id, g.id as cause_id from grants g
      where g.developer_id = p_developer_id and g.id = any (p_root_ids)
    union
    -- `offset 0` keeps it a look-up for each grant: as a join, it read all grants of the developer without statistics.
    select child.id, tree.cause_id from tree cross join lateral (
        select g.id from grants g where g.developer_id = p_developer_id and g.parent_grant_id = tree.id offset 0) child
      where child.id not in (select unnest(p_root_ids))
  )
  select * from tree
$$;

-- Delegations and revocations of one developer take turns, so that a tree cannot grow between the read and the write of
-- its revocation. The lock has no ids; a group of hot writes gives none.
create or replace function lock_delegation(p_developer_id text, p_ids text[] default null) returns void language sql as
$$ select pg_advisory_xact_lock(hashtextextended('delegation:' || p_developer_id, 0)) $$;

-- Whether a person has to be asked before this agent gets another grant for them: the last grant that they decided
-- themselves, or else the last of all, has to be renewed.
create or replace function pair_needs_renewal(p_developer_id text, p_agent_id text, p_principal_id text, p_at timestamptz)
  returns boolean
  language plpgsql stable set enable_seqscan = off as
$$
declare
  last_id text;
begin
  select g.id into last_id from grants g
    where g.developer_id = p_developer_id and g.principal_id = p_principal_id and g.agent_id = p_agent_id
      and g.parent_grant_id is null
    order by g.consent_method in ('developer', 'email', 'sso', 'passkey') desc, g.issued_at desc, g.id desc limit 1;
  if last_id is null then return false; end if;
  return renewal_causes(p_developer_id, last_id, p_at) <> '{}'
    or exists (select from grant_renewals n where n.developer_id = p_developer_id and n.grant_id = last_id);
end
$$;

-- Sets a grant's last use, but never while another transaction locks the grant, since the time is not worth a wait.
create or replace function note_use(p_developer_id text, p_grant_id text, p_at timestamptz) returns boolean
  language plpgsql set enable_seqscan = off as
$$
begin
  perform from grants where developer_id = p_developer_id and id = p_grant_id for no key update skip locked;
  if found then
    update grants set last_used_at = p_at where developer_id = p_developer_id and id = p_grant_id;
  end if;
  return true;
end
$$;

-- Why the consent to a root grant has to be renewed by now; empty when it holds. Grants that were delegated from it ask
-- for their root, since the person consented to that. A manifest is judged call by call, and is no cause here.
create or replace function renewal_causes(p_developer_id text, p_root_grant_id text, p_at timestamptz)
  returns renewal_cause[]
  language plpgsql stable set enable_seqscan = off as
$$
declare
  after_days      smallint;
  on_agent_change boolean;
  causes          renewal_cause[];
begin
  select d.reconsent_after_days, d.reconsent_on_agent_change into after_days, on_agent_change
    from developers d where d.id = p_developer_id;
  if after_days is null and not on_agent_change then return '{}'; end if; -- as most accounts have it
  select array_remove(array[
      case when g.issued_at + after_days * interval '24 hours' <= p_at then 'age' end,
      case when on_agent_change
          and (r.shown_agent ->> 'name' <> a.name
            or r.shown_agent -> 'publicKeyJwk' <> coalesce(a.public_key_jwk, 'null')) then 'agent_changed' end
    ]::renewal_cause[], null)
    into causes
    from grants g
      join agents a on a.developer_id = p_developer_id and a.id = g.agent_id
      left join lateral (select q.shown_agent from auth_requests q
        where q.developer_id = p_developer_id and q.id = g.auth_request_id) r on true
    where g.developer_id = p_developer_id and g.id = p_root_grant_id;
  return coalesce(causes, '{}');
end
$$;

-- Revokes a part of a tree by the grants' keys; those among the roots for the reason that is given, the others with
-- their parents. The caller holds lock_delegation and has read the whole tree, because a tree of a hundred thousand
-- grants takes longer than one statement may. The last part has `livingBefore`, how many grants of the parts before had
-- not expired, and gives the quota back. Returns how many of this part had not expired. Passports about other grants may
-- fall too; it returns their ids.
create or replace function revoke_branch(p_developer_id text, p_at timestamptz, p_write jsonb)
  returns table (living bigint, beside text[])
  language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off as
$$
declare
  ids    text[] := array(select jsonb_array_elements_text(p_write -> 'ids'));
  -- As an object, whose keys are found by halves.
  roots  jsonb := (select jsonb_object_agg(id, true) from jsonb_array_elements_text(p_write -> 'rootIds') id);
  reason revoked_reason := p_write ->> 'reason';
  fallen text;
  ended  timestamptz;
begin
  living := 0;
  foreach fallen in array ids loop
    update grants set status = 'revoked', revoked_at = p_at,
      revoked_reason = case when roots ? fallen then reason else 'parent' end
      where developer_id = p_developer_id and id = fallen and status <> 'revoked'
      returning expires_at into ended;
    if found and ended > p_at then living := living + 1; end if;
  end loop;
  beside := credentials_beside(p_developer_id, ids);
  perform revoke_credentials_of(p_developer_id, p_at, ids);
  if p_write ? 'livingBefore' then
    perform release_quota(p_developer_id, 'active_grants', living + (p_write ->> 'livingBefore')::bigint);
  end if;
  return next;
end
$$;

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

-- Delegations run at the same time, but take turns with revocations. See lock_delegation.
create or replace function share_delegation(p_developer_id text, p_ids text[] default null) returns void language sql as
$$ select pg_advisory_xact_lock_shared(hashtextextended('delegation:' || p_developer_id, 0)) $$;
