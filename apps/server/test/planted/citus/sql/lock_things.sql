create or replace function lock_things(p_developer_id text, p_limit integer) returns bigint language plpgsql as
$$
begin
  perform from things t where t.id = 'a' for update;
  perform from things t join parts p on p.developer_id = t.developer_id where p.developer_id = p_developer_id for share;
  perform from things t join parts p on p.id = t.id where t.developer_id = p_developer_id for share of t;
  update things set size = random() where developer_id = p_developer_id;
  update things set developer_id = 'other' where developer_id = p_developer_id;
  perform from things tablesample system (10);
  perform count(*) from things group by rollup (developer_id);
  return count(*) from parts p cross join lateral (select t.id from things t where t.developer_id = p.developer_id limit 1) first;
end
$$;
