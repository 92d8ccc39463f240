-- Counts how much of a resource is in use. Each feature that declares a quota counts its own rows in a function
-- `count_<resource>(developer_id, at)`, which this function calls by its name.
create or replace function exact_use(p_developer_id text, p_resource text, p_at timestamptz)
  returns bigint language plpgsql stable as
$$
declare exact bigint;
begin
  execute format('select %I($1, $2)', 'count_' || p_resource) into exact using p_developer_id, p_at;
  return exact;
end
$$;
