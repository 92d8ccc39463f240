-- Called by exact_use, where a plan's limit is met. Each exchange of a code made a grant that nobody delegated. An id begins
-- with its time, so the key finds the grants of the month.
create or replace function count_token_exchanges(p_developer_id text, p_at timestamptz) returns bigint
  language sql stable as
$$
  select count(*) from grants
    where developer_id = p_developer_id and id >= 'grnt_' || ulid_time(date_trunc('month', p_at, 'utc'))
      and parent_grant_id is null
$$;
