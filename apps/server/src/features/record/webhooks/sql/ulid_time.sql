-- The first half of a ULID: its time, as 48 bits of milliseconds in Crockford's base 32.
create or replace function ulid_time(p_at timestamptz) returns text language sql immutable as
$$
  select string_agg(substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((ms >> (5 * n)) & 31)::integer + 1, 1), '' order by n desc)
  from (select floor(extract(epoch from p_at) * 1000)::bigint as ms) as instant, generate_series(0, 9) as n
$$;
