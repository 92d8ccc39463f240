-- What the tables have of a principal or an agent that is still of use, by kind: nothing, after an offboarding. A person is
-- given by every id, and by those that count in any case, in lower case. The grants that it ended are given, for what was
-- delegated from them or stands on them. Tokens, decisions, wallet authorizations, passports and calls are judged by their
-- grant, and need no count of their own. Each row is found by a key; an account has at most 1,000 approvers.
create or replace function usable_of(p_developer_id text, p_kind offboarded_kind, p_subject_ids text[], p_folded text[],
    p_grant_ids text[], p_at timestamptz)
  returns jsonb
  language plpgsql stable set plan_cache_mode = force_generic_plan set enable_seqscan = off
  set enable_hashjoin = off set enable_mergejoin = off set enable_material = off
  set join_collapse_limit = 1 as
$$
declare
  v_user  text;
  v_lower text[];
  below   jsonb := jsonb_build_object(
    'delegatedGrants', (select count(*) from grant_tree(p_developer_id, p_grant_ids) tree
      join grants g on g.developer_id = p_developer_id and g.id = tree.id
      where g.status = 'active' and g.expires_at > p_at),
    'verifiableCredentials', (select count(*) from unnest(p_grant_ids) ended
      cross join lateral (select from verifiable_credentials v
        where v.developer_id = p_developer_id and v.grant_id = ended and v.revoked_at is null and v.expires_at > p_at
        offset 0) v));
begin
  if p_kind = 'agent' then
    return below || jsonb_build_object(
      'standing', (select count(*) from agents a
        where a.developer_id = p_developer_id and a.id = any(p_subject_ids) and a.status <> 'revoked'),
      'grants', (select count(*) from grants g where g.developer_id = p_developer_id and g.agent_id = any(p_subject_ids)
        and g.status = 'active' and g.expires_at > p_at),
      'requests', (select count(*) from auth_requests r
        where r.developer_id = p_developer_id and r.agent_id = any(p_subject_ids) and r.status in ('pending', 'approved')
          and coalesce(r.code_expires_at, r.expires_at) > p_at),
      'connectSessions', (select count(*) from connect_sessions s
        where s.developer_id = p_developer_id and s.agent_id = any(p_subject_ids)
          and s.status in ('pending', 'started', 'returned') and s.expires_at > p_at));
  end if;
  v_user := (select max(principal_user(p_developer_id, i)) from unnest(p_subject_ids) i);
  v_lower := array(select lower(i) from unnest(p_subject_ids || p_folded) i);
  return below || jsonb_build_object(
    'standing', (select count(*) from unnest(p_subject_ids) i where principal_active(p_developer_id, i)),
    'grants', (select count(*) from grants g where g.developer_id = p_developer_id and g.status = 'active'
      and lower(g.principal_id) = any(v_lower) and g.expires_at > p_at
      and (g.principal_id = any(p_subject_ids) or lower(g.principal_id) = any(p_folded))),
    'requests', (select count(*) from auth_requests r
      where r.developer_id = p_developer_id and r.principal_id = any(p_subject_ids) and r.status in ('pending', 'approved')
        and coalesce(r.code_expires_at, r.expires_at) > p_at),
    'sessions', (select count(*) from principal_sessions s where s.developer_id = p_developer_id
      and lower(s.principal_id) = any(v_lower) and s.expires_at > p_at
      and (s.principal_id = any(p_subject_ids) or lower(s.principal_id) = any(p_folded))),
    'ssoSessions', (select count(*) from sso_sessions s
      where s.developer_id = p_developer_id and s.principal_id = any(p_subject_ids) and s.expires_at > p_at)
      + (select count(*) from sso_sessions s where s.developer_id = p_developer_id and s.user_id = v_user
        and coalesce(s.principal_id <> all(p_subject_ids), true) and s.expires_at > p_at),
    'addresses', (select count(*) from principal_addresses a
      where a.developer_id = p_developer_id and lower(a.principal_id) = any(v_lower)
        and (a.principal_id = any(p_subject_ids) or lower(a.principal_id) = any(p_folded))),
    'passkeys', (select count(*) from passkeys k
      where k.developer_id = p_developer_id and lower(k.owner_id) = any(v_lower) and k.owner_kind = 'principal'
        and (k.owner_id = any(p_subject_ids) or lower(k.owner_id) = any(p_folded))),
    'vaultCredentials', (select count(*) from vault_credentials c
      where c.developer_id = p_developer_id and lower(c.principal_id) = any(v_lower) and c.disconnecting_at is null
        and (c.principal_id = any(p_subject_ids) or lower(c.principal_id) = any(p_folded))),
    'connectSessions', (select count(*) from connect_sessions s
      where s.developer_id = p_developer_id and lower(s.principal_id) = any(v_lower)
        and (s.principal_id = any(p_subject_ids) or lower(s.principal_id) = any(p_folded))
        and s.status in ('pending', 'started', 'returned') and s.expires_at > p_at),
    'approvers', (select count(*) from approvers a
      where a.developer_id = p_developer_id and a.status <> 'removed' and (a.principal_id = any(p_subject_ids)
        or a.sso_user_id = v_user or principal_user(p_developer_id, a.principal_id) = v_user)));
end
$$;
