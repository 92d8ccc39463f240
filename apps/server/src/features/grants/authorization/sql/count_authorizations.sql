-- Called by exact_use, where a plan's limit is met: the requests of the calendar month (UTC). An id begins with its time.
create or replace function count_authorizations(p_developer_id text, p_at timestamptz) returns bigint
  language sql stable as
$$
  select count(*) from auth_requests
    where developer_id = p_developer_id and id >= 'areq_' || ulid_time(date_trunc('month', p_at, 'utc'))
$$;
