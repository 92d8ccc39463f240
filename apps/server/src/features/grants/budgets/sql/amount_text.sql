-- An amount as answers and events show it: with four decimals, and with more where it has more. A billion units are one.
create or replace function amount_text(p_units numeric) returns text language sql immutable as
$$
  select round(exact, greatest(scale(exact), 4))::text from trim_scale(p_units * 0.000000001) exact
$$;
