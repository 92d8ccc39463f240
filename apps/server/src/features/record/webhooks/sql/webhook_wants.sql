-- Whether who subscribed to these patterns is told of an event of this type: `matchesEvent` of the feature events,
-- where the transaction is that records the event.
create or replace function webhook_wants(p_events text[], p_type text) returns boolean language sql immutable as
$$
  select exists (
    select from unnest(p_events) as pattern
    where pattern = p_type
      or (pattern = '*' and p_type <> 'budget.debited')
      or (right(pattern, 2) = '.*' and starts_with(p_type, left(pattern, -1)))
  )
$$;
