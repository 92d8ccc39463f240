-- Adds a user with the addresses and ids by which the user is found, in a turn of its own: a hot write. Another user who
-- had one of the ids before loses it. Returns `taken` when another user has one of the ids now, `over_quota` when the plan is
-- full, and `closed` for an active user one of whose ids was offboarded.
create or replace function add_scim_user(p_developer_id text, p_at timestamptz, p_write jsonb)
  returns text language plpgsql set enable_seqscan = off as
$$
declare
  v_user   jsonb := p_write -> 'user';
  v_id     text := v_user ->> 'id';
  v_active boolean := (v_user ->> 'active')::boolean;
  v_at     timestamptz := (v_user ->> 'at')::timestamptz;
  v_held   record;
begin
  perform lock_directory(p_developer_id);
  select bool_or(p.is_current) as is_taken, count(*) as ids into v_held
    from jsonb_to_recordset(p_write -> 'ids') as v (id text, "isFolded" boolean)
    join scim_principals p on p.developer_id = p_developer_id and p.folded = lower(v.id)
      and (p.is_folded or v."isFolded" or p.principal_id = v.id);
  if v_held.is_taken then return 'taken'; end if;
  if v_active and exists (select from jsonb_to_recordset(p_write -> 'ids') as v (id text, "isFolded" boolean)
      join closed_principals c on c.developer_id = p_developer_id and lower(c.principal_id) = lower(v.id)
        and (c.is_folded or v."isFolded" or c.principal_id = v.id) and c.admitted_at is null) then
    return 'closed';
  end if;
  if not take_quota(p_developer_id, 'scim_people', (p_write ->> 'limit')::bigint, p_at) then return 'over_quota'; end if;
  insert into scim_users
      (developer_id, id, user_name, external_id, display_name, active, attributes, version, created_at, updated_at)
    values (p_developer_id, v_id, v_user ->> 'userName', v_user ->> 'externalId', v_user ->> 'displayName', v_active,
      v_user -> 'attributes', 1, v_at, v_at);
  insert into scim_user_emails (developer_id, address, user_id)
    select distinct p_developer_id, lower(a.address), v_id from jsonb_array_elements_text(p_write -> 'addresses') as a (address);
  if v_held.ids > 0 then
    delete from scim_principals p using jsonb_to_recordset(p_write -> 'ids') as v (id text, "isFolded" boolean)
      where p.developer_id = p_developer_id and p.folded = lower(v.id)
        and v."isFolded" and not p.is_folded and not p.is_current;
  end if;
  insert into scim_principals (developer_id, folded, principal_id, is_folded, user_id, is_current, is_active)
    select distinct p_developer_id, lower(v.id), case when v."isFolded" then lower(v.id) else v.id end, v."isFolded",
      v_id, true, v_active
    from jsonb_to_recordset(p_write -> 'ids') as v (id text, "isFolded" boolean)
    on conflict (developer_id, folded, principal_id, is_folded)
      do update set user_id = excluded.user_id, is_current = true, is_active = excluded.is_active;
  if not v_active then perform close_new_ids(p_developer_id, v_id, v_at); end if;
  return null;
end
$$;

-- Closes ids for one subject. Returns whether any of them was open. An id that is closed already keeps its subject.
create or replace function close_ids(p_developer_id text, p_subject_id text, p_ids text[], p_folded boolean[], p_at timestamptz)
  returns boolean language plpgsql as
$$
begin
  insert into closed_principals as c (developer_id, principal_id, is_folded, subject_id, closed_at)
    select p_developer_id, case when v.is_folded then lower(v.id) else v.id end, bool_or(v.is_folded), p_subject_id, p_at
      from unnest(p_ids, p_folded) as v (id, is_folded) group by 2 order by 2
    on conflict (developer_id, principal_id) do update set closed_at = excluded.closed_at, admitted_at = null,
        is_folded = excluded.is_folded or (c.is_folded and c.admitted_at is null),
        subject_id = case when c.admitted_at is null then c.subject_id else excluded.subject_id end
      where c.admitted_at is not null or (excluded.is_folded and not c.is_folded);
  return found;
end
$$;

-- Closes what else a directory's user is named by, when one of the ids is closed. Returns whether one is. The caller holds the
-- directory.
create or replace function close_new_ids(p_developer_id text, p_user_id text, p_at timestamptz) returns boolean
  language plpgsql set enable_seqscan = off as
$$
declare
  v_subject text;
begin
  select c.subject_id into v_subject from scim_principals p
    join closed_principals c on c.developer_id = p_developer_id and lower(c.principal_id) = p.folded
      and (c.is_folded or p.is_folded or c.principal_id = p.principal_id) and c.admitted_at is null
    where p.developer_id = p_developer_id and p.user_id = p_user_id order by c.closed_at, c.subject_id limit 1;
  if not found then return false; end if;
  perform close_ids(p_developer_id, v_subject, array_agg(p.principal_id), array_agg(p.is_folded), p_at)
    from scim_principals p where p.developer_id = p_developer_id and p.user_id = p_user_id;
  return true;
end
$$;

-- Closes every id of a person, after each write that holds one of them and before the next. Returns the subject of the closing,
-- which is that of an earlier one where an id is closed, and whether any id was open.
create or replace function close_person(p_developer_id text, p_subject_id text, p_ids text[], p_folded boolean[],
    p_at timestamptz, out subject_id text, out was_open boolean)
  language plpgsql set enable_seqscan = off as
$$
begin
  perform pg_advisory_xact_lock(lock) from (
    select distinct party_lock(p_developer_id, 'principal', i) as lock from unnest(p_ids) i order by 1) locks;
  select c.subject_id into subject_id from unnest(p_ids, p_folded) as v (id, is_folded)
    join closed_principals c on c.developer_id = p_developer_id and lower(c.principal_id) = lower(v.id)
      and (c.is_folded or v.is_folded or c.principal_id = v.id) and c.admitted_at is null
    order by c.closed_at, c.subject_id limit 1;
  subject_id := coalesce(subject_id, p_subject_id);
  was_open := close_ids(p_developer_id, subject_id, p_ids, p_folded, p_at);
end
$$;

-- Called by exact_use, where a plan's limit is met.
create or replace function count_scim_groups(p_developer_id text, p_at timestamptz) returns bigint language sql stable as
$$
  select count(*) from scim_groups where developer_id = p_developer_id
$$;

-- Called by exact_use, where a plan's limit is met.
create or replace function count_scim_people(p_developer_id text, p_at timestamptz) returns bigint language sql stable as
$$
  select count(*) from scim_users where developer_id = p_developer_id
$$;

-- Whether a principal was not offboarded, and stays so until the commit. Whether a directory has deactivated them is not asked.
create or replace function hold_open(p_developer_id text, p_principal_id text) returns boolean language plpgsql as
$$
begin
  perform pg_advisory_xact_lock_shared(party_lock(p_developer_id, 'principal', p_principal_id));
  return not principal_closed(p_developer_id, p_principal_id);
end
$$;

-- As principal_active, and stays so until the commit: a deactivation or an offboarding waits, and then sees what was
-- written. Writes do not wait for each other.
create or replace function hold_principal(p_developer_id text, p_principal_id text) returns boolean
  language plpgsql set enable_seqscan = off as
$$
begin
  perform pg_advisory_xact_lock_shared(party_lock(p_developer_id, 'principal', p_principal_id));
  perform from scim_principals
    where developer_id = p_developer_id and folded = lower(p_principal_id) for share;
  if not found then return not principal_closed(p_developer_id, p_principal_id); end if; -- the answer of most requests
  return principal_active(p_developer_id, p_principal_id);
end
$$;

-- Changes of a developer's people and groups take turns, so that a name is given once and a change reads what the one
-- before it wrote.
create or replace function lock_directory(p_developer_id text) returns void language sql as
$$ select pg_advisory_xact_lock(hashtextextended('directory:' || p_developer_id, 0)) $$;

-- The id by which a person was offboarded, now or at last, who has this one.
create or replace function offboarded_as(p_developer_id text, p_principal_id text) returns text language sql stable as
$$
  select coalesce((select c.subject_id from closed_principals c
    where c.developer_id = p_developer_id and lower(c.principal_id) = lower(p_principal_id)
      and (c.is_folded or c.principal_id = p_principal_id)
    order by c.admitted_at is null desc, c.closed_at desc limit 1), p_principal_id)
$$;

-- The lock that writes for a principal, or about calls of an agent, share, and their end takes alone: a principal has no row
-- of its own. An account has sixteen of each kind, because a group of writes takes those of all its members. An id in any case
-- has the same one.
create or replace function party_lock(p_developer_id text, p_kind text, p_id text) returns bigint language sql immutable as
$$ select hashtextextended('party:' || p_developer_id || ':' || p_kind || ':' || (hashtext(lower(p_id)) & 15), 0) $$;

-- Whether a principal may act: true unless they were offboarded, or a user stands for the id and is inactive. Most
-- developers have no rows, so the question costs a look into two indexes.
create or replace function principal_active(p_developer_id text, p_principal_id text) returns boolean language sql stable as
$$
  select not principal_closed(p_developer_id, p_principal_id) and coalesce((
    select p.is_active from scim_principals p
      where p.developer_id = p_developer_id and p.folded = lower(p_principal_id)
        and (p.is_folded or p.principal_id = p_principal_id)
      order by p.is_current desc, p.is_folded limit 1), true)
$$;

-- Whether a principal was offboarded, and not admitted since. The planner writes its text into the statements that call it.
create or replace function principal_closed(p_developer_id text, p_principal_id text) returns boolean language sql stable as
$$
  select exists (select from closed_principals c where c.developer_id = p_developer_id and lower(c.principal_id) = lower(p_principal_id)
    and (c.is_folded or c.principal_id = p_principal_id) and c.admitted_at is null)
$$;

-- The user who stands for a principal id: the one who has it now, before the ones who had it.
create or replace function principal_user(p_developer_id text, p_principal_id text) returns text language sql stable as
$$
  select p.user_id from scim_principals p
    where p.developer_id = p_developer_id and p.folded = lower(p_principal_id)
      and (p.is_folded or p.principal_id = p_principal_id)
    order by p.is_current desc, p.is_folded limit 1
$$;

-- Shares the locks of agents whose calls are recorded until the commit, for a group of hot writes. See party_lock.
create or replace function share_callers(p_developer_id text, p_ids text[]) returns void language plpgsql as
$$
begin
  perform pg_advisory_xact_lock_shared(lock) from (
    select distinct party_lock(p_developer_id, 'agent', i) as lock from unnest(p_ids) i order by 1) locks;
end
$$;

-- Shares the locks of principals until the commit, for a group of hot writes. See party_lock.
create or replace function share_persons(p_developer_id text, p_ids text[]) returns void language plpgsql as
$$
begin
  perform pg_advisory_xact_lock_shared(lock) from (
    select distinct party_lock(p_developer_id, 'principal', i) as lock from unnest(p_ids) i order by 1) locks;
end
$$;

-- Shares what is known of principals until the commit, for a group of hot writes. See hold_principal.
create or replace function share_principals(p_developer_id text, p_ids text[]) returns void
  language plpgsql set enable_seqscan = off as
$$
begin
  perform share_persons(p_developer_id, p_ids);
  perform from scim_principals
    where developer_id = p_developer_id and folded in (select lower(i) from unnest(p_ids) i)
    order by folded, principal_id, is_folded for share;
end
$$;
