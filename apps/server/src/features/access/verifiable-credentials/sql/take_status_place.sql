-- Takes a free place in the developer's open list, by chance, so that places tell nothing about the order of issuance. A
-- list that is four fifths full is closed, because its free places become rare. The caller inserts the credential in the
-- same transaction: until then the lock on the list keeps others from the place.
create or replace function take_status_place(p_developer_id text, p_new_id text, p_at timestamptz)
  returns table (list_id text, idx integer) language plpgsql set enable_seqscan = off as
$$
declare
  places constant integer := 131072;
  open   record;
begin
  perform pg_advisory_xact_lock(hashtextextended('status-list:' || p_developer_id, 0));
  select id, used into open from status_lists where developer_id = p_developer_id and is_open for update;
  if found and open.used >= places * 4 / 5 then
    update status_lists set is_open = false where developer_id = p_developer_id and id = open.id;
  end if;
  if not found or open.used >= places * 4 / 5 then
    insert into status_lists (developer_id, id, bits, used, is_open, flips, created_at)
      values (p_developer_id, p_new_id, decode(repeat('00', places / 8), 'hex'), 0, true, 0, p_at);
    list_id := p_new_id;
  else
    list_id := open.id;
  end if;
  loop
    idx := floor(random() * places);
    exit when not exists (
      select from verifiable_credentials c
        where c.developer_id = p_developer_id and c.status_list_id = list_id and c.status_list_idx = idx
    );
  end loop;
  update status_lists set used = used + 1 where developer_id = p_developer_id and id = list_id;
  return next;
end
$$;
