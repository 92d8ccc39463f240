-- Names the developer everywhere, and stays with the developer nowhere.
create or replace function place_of(p_developer_id text, p_id text) returns text language plpgsql as
$$
begin
  perform from places where id = p_id and p_developer_id = p_developer_id;
  insert into places (id, developer_id) values (p_developer_id, p_id);
  execute format('select %I($1)', 'place_of') using p_id, p_developer_id;
  return place_of(p_id, p_developer_id);
end
$$;
