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
