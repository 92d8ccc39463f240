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

-- A place in the developer's open list that is free now, by chance, so that places tell nothing about the order of
-- issuance. The list is null where the developer needs a new one: a list that is four fifths full is closed, because its
-- free places become rare. Nothing is locked, because the credential that names the place has to be signed first.
create or replace function free_status_place(p_developer_id text) returns table (list_id text, idx integer)
  language plpgsql set enable_seqscan = off as
$$
declare
  places constant integer := 131072;
begin
  select id into list_id from status_lists
    where developer_id = p_developer_id and is_open and used < places * 4 / 5;
  loop
    idx := floor(random() * places);
    exit when not exists (
      select from verifiable_credentials c
        where c.developer_id = p_developer_id and c.status_list_id = list_id and c.status_list_idx = idx
    );
  end loop;
  return next;
end
$$;

-- Locks credentials and the passports below them until the commit, and returns the ids of all.
create or replace function hold_credentials(p_developer_id text, p_ids text[])
  returns text[] language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off as
$$
declare
  held  text[] := p_ids;
  below text[];
begin
  loop
    -- A passport is issued while the one above it is held. So those below are looked for again once all of these are.
    perform from verifiable_credentials c
      where c.developer_id = p_developer_id and c.id = any (held) order by c.id for update of c;
    with recursive tree as (
      select id from unnest(held) id
      union
      select p.id from tree join passports p on p.developer_id = p_developer_id and p.parent_id = tree.id
    )
    select array_agg(id) into below from tree;
    exit when cardinality(below) = cardinality(held);
    held := below;
  end loop;
  return held;
end
$$;

-- Holds the place of a signed credential until the commit, and opens its list where that is new. Returns false when
-- another credential has the place meanwhile, or the list is no longer the open one: the caller signs again.
create or replace function hold_status_place(p_developer_id text, p_at timestamptz, p_credential jsonb) returns boolean
  language plpgsql set enable_seqscan = off as
$$
declare
  places constant integer := 131072;
  listed text := p_credential ->> 'status_list_id';
begin
  perform from status_lists where developer_id = p_developer_id and id = listed and is_open for update;
  if not found then
    update status_lists set is_open = false
      where developer_id = p_developer_id and is_open and used >= places * 4 / 5;
    insert into status_lists (developer_id, id, bits, used, is_open, flips, created_at)
      values (p_developer_id, listed, decode(repeat('00', places / 8), 'hex'), 0, true, 0, p_at)
      on conflict do nothing;
    return found;
  end if;
  return not exists (
    select from verifiable_credentials
      where developer_id = p_developer_id and status_list_id = listed
        and status_list_idx = (p_credential ->> 'status_list_idx')::integer
  );
end
$$;

-- Stores a signed credential. The caller holds its place.
create or replace function keep_credential(p_developer_id text, p_credential jsonb) returns void
  language plpgsql set enable_seqscan = off as
$$
begin
  update status_lists set used = used + 1
    where developer_id = p_developer_id and id = p_credential ->> 'status_list_id';
  insert into verifiable_credentials select (jsonb_populate_record(null::verifiable_credentials, p_credential)).*;
end
$$;

-- Revokes credentials and the passports below them, and sets their bits, for those that are not revoked. Returns their
-- ids. Flips of one list wait for each other, so none is lost.
create or replace function revoke_credentials(p_developer_id text, p_at timestamptz, p_ids text[])
  returns text[] language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off as
$$
declare
  fallen  text[] := hold_credentials(p_developer_id, p_ids);
  ended   text[];
  place   record;
  flipped bytea;
begin
  select coalesce(array_agg(id order by id), '{}') into ended from verifiable_credentials
    where developer_id = p_developer_id and id = any (fallen) and revoked_at is null;
  update verifiable_credentials set revoked_at = p_at where developer_id = p_developer_id and id = any (ended);
  for place in
    select c.status_list_id as list_id, array_agg(c.status_list_idx) as idxs from verifiable_credentials c
      where c.developer_id = p_developer_id and c.id = any (ended) group by 1 order by 1
  loop
    select l.bits into flipped from status_lists l
      where l.developer_id = p_developer_id and l.id = place.list_id for update of l;
    for at in 1 .. cardinality(place.idxs) loop
      flipped := set_bit(flipped, place.idxs[at], 1);
    end loop;
    update status_lists l set bits = flipped, flips = flips + 1
      where l.developer_id = p_developer_id and l.id = place.list_id;
  end loop;
  return ended;
end
$$;

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
