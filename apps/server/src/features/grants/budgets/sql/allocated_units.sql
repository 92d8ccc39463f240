-- The amount of an allocation that is to be made. Instances of the release before name ten-thousandths.
create or replace function allocated_units(p_allocation jsonb) returns numeric language sql immutable as
$$
  select coalesce((p_allocation ->> 'initial_units')::numeric, (p_allocation ->> 'initial')::numeric * 100000)
$$;
