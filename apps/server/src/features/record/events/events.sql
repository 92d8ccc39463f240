-- The number of a developer's first event at a time or later, or the number after the last when there is no
-- such event. Numbers follow commits, and an event's time is taken shortly before its commit, so a later
-- number may have an earlier time. A reader that must not miss an event asks for a time that is earlier by
-- the longest transaction.
create or replace function events_first_seq(p_developer_id text, p_at timestamptz) returns bigint
  language plpgsql stable as
$$
declare
  high   bigint := (select h.event_seq + 1 from audit_heads h where h.developer_id = p_developer_id);
  low    bigint := coalesce((select e.seq from outbox_events e
                             where e.developer_id = p_developer_id order by e.seq limit 1), high);
  middle bigint;
  found  record;
begin
  while low < high loop
    middle := (low + high) / 2;
    select e.seq, e.created_at into found from outbox_events e
      where e.developer_id = p_developer_id and e.seq >= middle order by e.seq limit 1;
    if found.seq is null or found.created_at >= p_at then high := middle; else low := found.seq + 1; end if;
  end loop;
  return low;
end
$$;
