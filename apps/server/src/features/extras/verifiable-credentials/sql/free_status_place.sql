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
