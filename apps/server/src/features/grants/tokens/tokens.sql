-- The facts that decide whether an agent may get a grant on the word of an identity provider.
create or replace function find_assertable(p_developer_id text, p_agent_id text)
  returns table (agent_did text, agent_status agent_status, agent_scopes text[], enforce_agent_scopes boolean,
    policies_version bigint)
  language sql stable as
$$
  select a.did, standing(p_developer_id, a.status, d.stopped_at), a.scopes, d.enforce_agent_scopes,
    policies_version(p_developer_id)
  from agents a join developers d on d.id = p_developer_id
  where a.developer_id = p_developer_id and a.id = p_agent_id
$$;

-- The facts that decide POST /v1/grants/delegate: the presented token with its grant and agent, the agent that is to
-- get a part of the grant, and the developer's settings for delegation. `budget_remaining` and `budget_initial` are for
-- instances of the release before.
create or replace function find_delegable(p_developer_id text, p_token_id text, p_sub_agent_id text)
  returns table (held grants, token tokens, agent_did text, agent_status agent_status,
    sub_agent_did text, sub_agent_status agent_status, sub_agent_scopes text[], max_depth smallint,
    enforce_agent_scopes boolean, budget_remaining bigint, budget_currency text, budget_initial bigint,
    policies_version bigint, budget_units numeric, budget_initial_units numeric)
  language plpgsql stable set enable_seqscan = off as
$$
begin
  select * into token from tokens t where t.developer_id = p_developer_id and t.id = p_token_id;
  if not found then return; end if;
  select * into held from grants g where g.developer_id = p_developer_id and g.id = token.grant_id;
  select a.did, standing(p_developer_id, a.status, d.stopped_at) into agent_did, agent_status
    from agents a join developers d on d.id = p_developer_id
    where a.developer_id = p_developer_id and a.id = held.agent_id;
  select a.did, standing(p_developer_id, a.status, d.stopped_at), a.scopes into sub_agent_did, sub_agent_status, sub_agent_scopes
    from agents a join developers d on d.id = p_developer_id
    where a.developer_id = p_developer_id and a.id = p_sub_agent_id;
  select d.max_delegation_depth, d.enforce_agent_scopes into max_depth, enforce_agent_scopes
    from developers d where d.id = p_developer_id;
  select b.remaining, b.currency, b.own_initial, b.remaining_units, b.own_initial_units
    into budget_remaining, budget_currency, budget_initial, budget_units, budget_initial_units
    from grant_budget(p_developer_id, held.id) b;
  policies_version := policies_version(p_developer_id);
  return next;
end
$$;

-- The facts that decide POST /v1/token: the request, its agent, and the grant that was made from the request, if any.
-- Every read of these flows is a function, because Postgres keeps its plans. Postgres keeps them while the tables grow,
-- so enable_seqscan excludes plans that suit only small tables.
create or replace function find_redeemable(p_developer_id text, p_request_id text)
  returns table (request auth_requests, agent_did text, agent_status agent_status,
    grant_id text, grant_status grant_status, grant_issued_at timestamptz, policies_version bigint)
  language plpgsql stable set enable_seqscan = off as
$$
begin
  select * into request from auth_requests r where r.developer_id = p_developer_id and r.id = p_request_id;
  if not found then return; end if;
  select a.did, standing(p_developer_id, a.status, d.stopped_at) into agent_did, agent_status
    from agents a join developers d on d.id = p_developer_id
    where a.developer_id = p_developer_id and a.id = request.agent_id;
  select g.id, g.status, g.issued_at into grant_id, grant_status, grant_issued_at
    from grants g where g.developer_id = p_developer_id and g.auth_request_id = p_request_id;
  policies_version := policies_version(p_developer_id);
  return next;
end
$$;

-- The facts that decide POST /v1/token/refresh: a refresh token with its grant, agent and budget.
-- `budget_remaining` and `budget_initial` are for instances of the release before.
create or replace function find_refreshable(p_developer_id text, p_refresh_id text)
  returns table (held grants, refresh refresh_tokens, agent_did text, agent_status agent_status,
    budget_remaining bigint, budget_currency text, budget_initial bigint,
    policies_version bigint, budget_units numeric, budget_initial_units numeric)
  language plpgsql stable set enable_seqscan = off as
$$
begin
  select * into refresh from refresh_tokens r where r.developer_id = p_developer_id and r.id = p_refresh_id;
  if not found then return; end if;
  select * into held from grants g where g.developer_id = p_developer_id and g.id = refresh.grant_id;
  select a.did, standing(p_developer_id, a.status, d.stopped_at) into agent_did, agent_status
    from agents a join developers d on d.id = p_developer_id
    where a.developer_id = p_developer_id and a.id = held.agent_id;
  select b.remaining, b.currency, b.own_initial, b.remaining_units, b.own_initial_units
    into budget_remaining, budget_currency, budget_initial, budget_units, budget_initial_units
    from grant_budget(p_developer_id, held.id) b;
  policies_version := policies_version(p_developer_id);
  return next;
end
$$;

-- The living grants that a redemption ends: the one that its request names, or else those that have taken its place since,
-- because several requests may name one grant and all be approved. Requests of one line have one agent and one principal. A
-- line is short, so each step looks its rows up: the settings below exclude plans that read all requests.
create or replace function find_replaced(p_developer_id text, p_grant_id text, p_at timestamptz)
  returns table (id text) language plpgsql stable set enable_seqscan = off
  set enable_hashjoin = off set enable_mergejoin = off as
$$
begin
  return query
    with recursive line as (
      select p_grant_id as grant_id
      union
      select g.id from line
        join auth_requests r on r.developer_id = p_developer_id and r.replaces_grant_id = line.grant_id
        join grants g on g.developer_id = p_developer_id and g.auth_request_id = r.id
    )
    select g.id from line cross join lateral (
        select * from grants h where h.developer_id = p_developer_id and h.id = line.grant_id offset 0) g
      where g.status = 'active' and g.expires_at > p_at; -- outside, so that the key alone finds the row
end
$$;

-- Whether a grant token is live, with its grant, agent, principal and account, and stays so until the commit. Each row is
-- found by its key: as one join, Postgres began at the developer's active grants while it had no statistics. Locks are
-- taken in the order of write_redemption, and a row is judged once it is locked.
create or replace function hold_token(p_developer_id text, p_token_id text, p_at timestamptz) returns boolean
  language plpgsql set enable_seqscan = off as
$$
declare
  token tokens;
  held  grants;
begin
  select * into token from tokens where developer_id = p_developer_id and id = p_token_id;
  select * into held from grants where developer_id = p_developer_id and id = token.grant_id;
  perform from agents where developer_id = p_developer_id and id = held.agent_id and status = 'active' for share;
  if not found then return false; end if;
  select * into held from grants where developer_id = p_developer_id and id = token.grant_id for share;
  if held.status <> 'active' or held.expires_at <= p_at then return false; end if;
  select * into token from tokens where developer_id = p_developer_id and id = p_token_id for share;
  if token.revoked_at is not null or token.expires_at <= p_at then return false; end if;
  return principal_active(p_developer_id, held.principal_id) and account_runs(p_developer_id);
end
$$;

-- Every call that an agent makes with its grant token reads the token, its grant, its agent and its developer as they
-- are now. Finds nothing for a closed account.
create or replace function use_grant_token(p_developer_id text, p_token_id text, p_at timestamptz)
  returns table (held grants, token tokens, agent_did text, agent_status agent_status, mode developer_mode, plan plan)
  language plpgsql set enable_seqscan = off as
$$
begin
  return query
    select u.held, u.token, u.agent_did, u.agent_status, d.mode, d.plan
      from developers d, use_token(p_developer_id, p_token_id, p_at) u
      where d.id = p_developer_id and d.closed_at is null;
end
$$;

-- Every verification reads a token with its grant and agent as they are now, and why the person has to consent again. For
-- a valid token the grant's last use is set, once a minute at most, and never while another transaction locks the grant,
-- since the time is not worth a wait. This is a function because Postgres keeps its plans: planning took four times as long
-- as the lookup. Postgres keeps them while the tables grow, so enable_seqscan excludes plans that suit only small tables,
-- and `offset 0` keeps the order of the look-ups, each by a key: without statistics Postgres began at the agents.
create or replace function use_token(p_developer_id text, p_token_id text, p_at timestamptz)
  returns table (held grants, token tokens, agent_did text, agent_status agent_status, renewal_causes renewal_cause[])
  language plpgsql set enable_seqscan = off as
$$
declare
  used record;
begin
  -- One statement, because each costs more than a join of rows that are found by their keys.
  select t.it as t, g.it as g, a.did, standing(p_developer_id, a.status, d.stopped_at) as standing,
      principal_active(p_developer_id, (g.it).principal_id) as is_principal_active,
      d.reconsent_after_days is not null or d.reconsent_on_agent_change as may_need_consent
    into used
    from (select k as it from tokens k where developer_id = p_developer_id and k.id = p_token_id offset 0) t
      cross join lateral (select k as it from grants k
        where developer_id = p_developer_id and k.id = (t.it).grant_id offset 0) g
      cross join lateral (select did, status from agents
        where developer_id = p_developer_id and id = (g.it).agent_id offset 0) a
      cross join lateral (select * from developers where id = p_developer_id offset 0) d;
  if not found then return; end if;
  token := used.t;
  held := used.g;
  agent_did := used.did;
  agent_status := used.standing;
  renewal_causes := '{}';
  if used.may_need_consent then
    renewal_causes := renewal_causes(p_developer_id, held.root_grant_id, p_at);
  end if;
  if token.subject_token_id is not null then token := as_subject(p_developer_id, token); end if;
  if not used.is_principal_active then held := as_revoked(p_developer_id, held); end if;
  return next;
  if is_use_due(p_developer_id, held, token, agent_status, p_at) then
    perform note_use(p_developer_id, held.id, p_at);
  end if;
end
$$;

-- What use_token finds, for tokens that are used in one turn, of any developers: each is looked up by its own, and its place
-- says whose answer it is. Leaves out the tokens of closed accounts. A plan for one row each is good for any number, and
-- the outer `offset 0` lets each value be computed once.
create or replace function use_tokens(p_developer_ids text[], p_token_ids text[], p_times timestamptz[])
  returns table (place bigint, held grants, token tokens, agent_did text, agent_status agent_status,
    renewal_causes renewal_cause[], mode developer_mode, plan plan)
  language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off as
$$
begin
  return query
  select q.place, q.held, q.token, q.did, q.standing, q.causes, q.mode, q.plan
    from (
      select q.*, a.did, standing(q.developer_id, a.status, d.stopped_at) as standing, d.mode, d.plan,
          case when principal_active(q.developer_id, (g.it).principal_id) then g.it
            else as_revoked(q.developer_id, g.it) end as held,
          case when (t.it).subject_token_id is null then t.it else as_subject(q.developer_id, t.it) end as token,
          case when d.reconsent_after_days is null and not d.reconsent_on_agent_change then '{}'::renewal_cause[]
            else renewal_causes(q.developer_id, (g.it).root_grant_id, q.at) end as causes
        from unnest(p_developer_ids, p_token_ids, p_times) with ordinality q(developer_id, token_id, at, place)
          cross join lateral (select k as it from tokens k
            where k.developer_id = q.developer_id and k.id = q.token_id offset 0) t
          cross join lateral (select k as it from grants k
            where k.developer_id = q.developer_id and k.id = (t.it).grant_id offset 0) g
          cross join lateral (select k.did, k.status from agents k
            where k.developer_id = q.developer_id and k.id = (g.it).agent_id offset 0) a
          cross join lateral (select * from developers k where k.id = q.developer_id offset 0) d
        where d.closed_at is null
        offset 0) q
    where not is_use_due(q.developer_id, q.held, q.token, q.standing, q.at)
      or note_use(q.developer_id, (q.held).id, q.at);
end
$$;

-- A grant of a deactivated principal, which counts as revoked even where the deactivation came before the grant.
create or replace function as_revoked(p_developer_id text, p_held grants) returns grants language plpgsql immutable as
$$
begin
  p_held.status := 'revoked';
  return p_held;
end
$$;

-- A token that was got in exchange for another, and ends with that one.
create or replace function as_subject(p_developer_id text, p_token tokens) returns tokens
  language plpgsql stable set enable_seqscan = off as
$$
begin
  if p_token.revoked_at is null then
    select t.revoked_at into p_token.revoked_at from tokens t
      where t.developer_id = p_developer_id and t.id = p_token.subject_token_id;
  end if;
  return p_token;
end
$$;

-- Whether a use is to be noted: that of a valid token, once a minute. The planner writes its text into the statements that
-- call it.
create or replace function is_use_due(p_developer_id text, p_held grants, p_token tokens, p_agent_status agent_status,
    p_at timestamptz)
  returns boolean language sql stable as
$$
  select (p_held).status = 'active' and p_agent_status = 'active' and (p_token).revoked_at is null
    and (p_token).expires_at > p_at
    and ((p_held).last_used_at is null or (p_held).last_used_at <= p_at - interval '1 minute')
$$;

-- The write of a token on the word of an identity provider. The facts that were read before signing are checked again,
-- and a refusal comes before the first write. Without `isNew` the grant is there already, and has to be active. The
-- caller holds what says that it is the right one. Locks are taken in the order of write_delegation.
create or replace function write_assertion(p_developer_id text, p_at timestamptz, p_write jsonb)
  returns text
  language plpgsql set enable_seqscan = off as
$$
declare
  held grants := jsonb_populate_record(null::grants, p_write -> 'grant');
begin
  perform from agents
    where developer_id = p_developer_id and id = held.agent_id and status = 'active' for share;
  if not found or not account_runs(p_developer_id) then return 'agent_inactive'; end if;
  perform share_delegation(p_developer_id);
  if not hold_principal(p_developer_id, held.principal_id) then return 'principal_inactive'; end if;
  if not policies_hold(p_developer_id, p_write ->> 'policiesVersion') then return 'changed'; end if;
  if not (p_write ->> 'isNew')::boolean then
    perform from (select status, expires_at from grants
        where developer_id = p_developer_id and id = held.id offset 0 for share) standing
      where status = 'active' and expires_at > p_at; -- outside, so that the key alone finds the row
    if not found then return 'changed'; end if;
  elsif not take_quota(p_developer_id, 'active_grants', (p_write ->> 'grantLimit')::bigint, p_at) then
    return 'over_quota';
  end if;

  if (p_write ->> 'isNew')::boolean then insert into grants select held.*; end if;
  insert into tokens select (jsonb_populate_record(null::tokens, p_write -> 'token')).*;
  return null;
end
$$;

-- The write of POST /v1/grants/delegate. The facts that were read before signing are checked again. Each row is locked
-- for share, so that delegations do not wait for each other and no revocation comes in between. A refusal comes before
-- the first write. Locks are taken in the order in which revocations take them: agents by id, then share_delegation,
-- then grants.
create or replace function write_delegation(p_developer_id text, p_at timestamptz, p_write jsonb)
  returns text
  language plpgsql set enable_seqscan = off as
$$
declare
  child        grants := jsonb_populate_record(null::grants, p_write -> 'grant');
  parent_agent text;
  refusal      text;
begin
  select agent_id into parent_agent from grants
    where developer_id = p_developer_id and id = child.parent_grant_id; -- a grant's agent never changes
  select case
      when max(status) filter (where id = parent_agent) <> 'active' then 'agent_inactive'
      when max(status) filter (where id = child.agent_id) <> 'active'
        then 'sub_agent_' || max(status) filter (where id = child.agent_id)
    end into refusal
    from (select id, status from agents
      where developer_id = p_developer_id and id in (parent_agent, child.agent_id) order by id for share) locked;
  if refusal is not null then return refusal; end if;
  if not account_runs(p_developer_id) then return 'agent_inactive'; end if;

  perform share_delegation(p_developer_id);
  if not hold_principal(p_developer_id, child.principal_id) then return 'principal_inactive'; end if;
  select case when status <> 'active' then 'parent_revoked' when expires_at <= p_at then 'parent_expired' end
    into refusal
    from grants where developer_id = p_developer_id and id = child.parent_grant_id for share;
  if refusal is not null then return refusal; end if;
  perform from tokens
    where developer_id = p_developer_id and id = p_write ->> 'parentTokenId' and revoked_at is null for share;
  if not found then return 'parent_revoked'; end if;
  if not policies_hold(p_developer_id, p_write ->> 'policiesVersion') then return 'policies_changed'; end if;
  refusal := allocation_refusal(p_developer_id, p_write -> 'allocation', child.parent_grant_id);
  if refusal is not null then return refusal; end if;
  if jsonb_typeof(p_write -> 'credential') = 'object' then
    if not hold_status_place(p_developer_id, p_at, p_write -> 'credential') then return 'place_taken'; end if;
  end if;
  if not take_quota(p_developer_id, 'active_grants', (p_write ->> 'grantLimit')::bigint, p_at) then return 'over_quota'; end if;

  insert into grants select child.*;
  insert into tokens select (jsonb_populate_record(null::tokens, p_write -> 'token')).*;
  if jsonb_typeof(p_write -> 'refresh') = 'object' then
    insert into refresh_tokens select (jsonb_populate_record(null::refresh_tokens, p_write -> 'refresh')).*;
  end if;
  if jsonb_typeof(p_write -> 'allocation') = 'object' then
    perform open_allocation(p_developer_id, p_write -> 'allocation');
  end if;
  if jsonb_typeof(p_write -> 'credential') = 'object' then
    perform keep_credential(p_developer_id, p_write -> 'credential');
  end if;
  return null;
end
$$;

-- The write of POST /v1/token. The facts that were read before signing are checked again, and a refusal comes before
-- the first write, since returning commits. The lock on the request lets the first of several simultaneous calls win;
-- the unique index on the grants' request would stop a second grant too.
create or replace function write_redemption(p_developer_id text, p_at timestamptz, p_write jsonb)
  returns text
  language plpgsql set enable_seqscan = off as
$$
declare
  new_grant grants := jsonb_populate_record(null::grants, p_write -> 'grant');
  refusal   text;
begin
  perform from agents
    where developer_id = p_developer_id and id = new_grant.agent_id and status = 'active' for share;
  if not found or not account_runs(p_developer_id) then return 'agent_inactive'; end if;
  if not hold_principal(p_developer_id, new_grant.principal_id) then return 'principal_inactive'; end if;
  select case
      when status <> 'approved' then 'code_used'
      when wrong_verifiers >= (p_write ->> 'maxWrongVerifiers')::integer then 'code_unknown'
      when code_expires_at <= p_at then 'code_expired'
    end into refusal
    from auth_requests where developer_id = p_developer_id and id = new_grant.auth_request_id for update;
  if refusal is not null then return refusal; end if;
  if not policies_hold(p_developer_id, p_write ->> 'policiesVersion') then return 'policies_changed'; end if;
  if jsonb_typeof(p_write -> 'credential') = 'object' then
    if not hold_status_place(p_developer_id, p_at, p_write -> 'credential') then return 'place_taken'; end if;
  end if;
  if not take_quota(p_developer_id, 'active_grants', (p_write ->> 'grantLimit')::bigint, p_at) then return 'over_quota'; end if;
  if not take_quota(p_developer_id, 'token_exchanges', (p_write ->> 'monthLimit')::bigint, p_at) then
    perform release_quota(p_developer_id, 'active_grants', 1);
    return 'over_month';
  end if;

  update auth_requests set status = 'consumed'
    where developer_id = p_developer_id and id = new_grant.auth_request_id;
  perform release_quota(p_developer_id, 'open_requests', 1);
  insert into grants select new_grant.*;
  insert into tokens select (jsonb_populate_record(null::tokens, p_write -> 'token')).*;
  insert into refresh_tokens select (jsonb_populate_record(null::refresh_tokens, p_write -> 'refresh')).*;
  if jsonb_typeof(p_write -> 'allocation') = 'object' then
    perform open_allocation(p_developer_id, p_write -> 'allocation');
  end if;
  if jsonb_typeof(p_write -> 'credential') = 'object' then
    perform keep_credential(p_developer_id, p_write -> 'credential');
  end if;
  return null;
end
$$;

-- The write of a token that a resource gets for the vault. Agent, grant and the token that the resource received are locked
-- for share and looked at again: a revocation that commits first leaves nothing to exchange, and one that comes later ends
-- this token too, because its uses read the received token.
create or replace function write_resource_exchange(p_developer_id text, p_at timestamptz, p_write jsonb)
  returns text
  language plpgsql set enable_seqscan = off as
$$
declare
  made tokens := jsonb_populate_record(null::tokens, p_write -> 'token');
begin
  if not hold_token(p_developer_id, made.subject_token_id, p_at) then return 'token_ended'; end if;
  insert into tokens select made.*;
  return null;
end
$$;

-- The write of POST /v1/token/refresh. The grant's row is locked for share: refreshes of one grant do not wait for each
-- other, a revocation waits for them, and a refresh after the revocation finds no active grant.
create or replace function write_rotation(p_developer_id text, p_at timestamptz, p_write jsonb)
  returns text language plpgsql set enable_seqscan = off as
$$
declare
  successor refresh_tokens := jsonb_populate_record(null::refresh_tokens, p_write -> 'refresh');
  agent     text;
  principal text;
begin
  select agent_id, principal_id into agent, principal from grants where developer_id = p_developer_id and id = successor.grant_id;
  perform from agents where developer_id = p_developer_id and id = agent and status = 'active' for share;
  if not found or not account_runs(p_developer_id) then return 'agent_inactive'; end if;
  if not hold_principal(p_developer_id, principal) then return 'principal_inactive'; end if;
  perform from (select status, expires_at from grants
      where developer_id = p_developer_id and id = successor.grant_id offset 0 for share) held
    where status = 'active' and expires_at > p_at; -- outside, so that the key alone finds the row
  if not found then return 'grant_revoked'; end if;
  if not policies_hold(p_developer_id, p_write ->> 'policiesVersion') then return 'policies_changed'; end if;
  update refresh_tokens set spent_at = p_at
    where developer_id = p_developer_id and id = successor.predecessor_id and spent_at is null;
  if not found then return 'refresh_reused'; end if;

  insert into refresh_tokens select successor.*;
  insert into tokens select (jsonb_populate_record(null::tokens, p_write -> 'token')).*;
  return null;
end
$$;
