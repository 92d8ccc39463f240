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
