-- The last of the next entries, at most p_most, that are not after an instant. Times never fall along a chain.
create or replace function next_anomaly_seq(p_developer_id text, p_after bigint, p_until timestamptz, p_most integer)
  returns bigint language sql stable as
$$
  select coalesce(max(b.seq), p_after) from (
    select a.seq, a.at from audit_entries a where a.developer_id = p_developer_id and a.seq > p_after
    order by a.seq limit p_most
  ) b where b.at <= p_until
$$;
