-- The allocations of a developer whose books do not add up: movements that do not come to zero, and balances that differ
-- from the sums of their entries. GET /v1/budget/verify asks.
create or replace function find_budget_faults(p_developer_id text) returns table (allocation_id text, fault text)
  language sql stable as
$$
  with sums as (
    select e.allocation_id,
      sum(e.units) filter (where e.account = 'funds') as funds,
      sum(e.units) filter (where e.account = 'available') as available,
      coalesce(sum(e.units) filter (where e.account = 'spent'), 0) as spent
    from budget_entries e where e.developer_id = p_developer_id group by e.allocation_id
  ), moved as (
    select t.allocation_id, sum(t.amount_units) as amount
    from budget_transactions t where t.developer_id = p_developer_id group by t.allocation_id
  )
  select b.id, 'balance' from budget_allocations b
    left join sums on sums.allocation_id = b.id left join moved on moved.allocation_id = b.id
    where b.developer_id = p_developer_id
      and (sums.funds, sums.available, sums.spent, coalesce(moved.amount, 0))
        is distinct from (-b.initial_units, b.remaining_units, b.initial_units - b.remaining_units,
          b.initial_units - b.remaining_units)
  union all
  select e.allocation_id, 'movement ' || e.movement_id from budget_entries e
    where e.developer_id = p_developer_id group by e.allocation_id, e.movement_id having sum(e.units) <> 0
$$;
