-- Amounts of budgets have nine decimals, because a call of a model costs less than a ten-thousandth. They are whole
-- numbers of units, of which a billion are one of the currency; bigint does not hold the largest. The columns in
-- ten-thousandths are for instances of the release before, which prepare statements with them: they round down.
alter table budget_allocations rename column initial to initial_units;
alter table budget_allocations rename column remaining to remaining_units;
alter table budget_allocations
  alter column initial_units type numeric(21) using initial_units * 100000::numeric,
  alter column remaining_units type numeric(21) using remaining_units * 100000::numeric;
alter table budget_allocations
  add column initial   bigint not null generated always as (div(initial_units, 100000)::bigint) stored,
  add column remaining bigint not null generated always as (div(remaining_units, 100000)::bigint) stored;

alter table budget_transactions rename column amount to amount_units;
alter table budget_transactions rename column refunded to refunded_units;
alter table budget_transactions rename column balance_after to balance_units;
alter table budget_transactions
  alter column amount_units type numeric(21) using amount_units * 100000::numeric,
  alter column refunded_units type numeric(21) using refunded_units * 100000::numeric,
  alter column balance_units type numeric(21) using balance_units * 100000::numeric;
alter table budget_transactions
  add column amount        bigint not null generated always as (div(amount_units, 100000)::bigint) stored,
  add column refunded      bigint not null generated always as (div(refunded_units, 100000)::bigint) stored,
  add column balance_after bigint not null generated always as (div(balance_units, 100000)::bigint) stored;

alter table budget_entries rename column amount to units;
alter table budget_entries alter column units type numeric(21) using units * 100000::numeric;

-- Null in requests of the release before, which have only `budget_amount`. Later ones have both, and round that up.
alter table auth_requests add column budget_units numeric(21) check (budget_units > 0);
