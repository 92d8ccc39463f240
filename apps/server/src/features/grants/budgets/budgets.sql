-- The amount of an allocation that is to be made. Instances of the release before name ten-thousandths.
create or replace function allocated_units(p_allocation jsonb) returns numeric language sql immutable as
$$
  select coalesce((p_allocation ->> 'initial_units')::numeric, (p_allocation ->> 'initial')::numeric * 100000)
$$;

-- Why a grant does not get this allocation from those above it: they have another currency, or less than this is left of
-- one of them. Null where it does. Whether debits are covered, each debit decides.
create or replace function allocation_refusal(p_developer_id text, p_allocation jsonb, p_parent_grant_id text)
  returns text language plpgsql stable set enable_seqscan = off as
$$
declare above record;
begin
  if jsonb_typeof(p_allocation) is distinct from 'object' or p_parent_grant_id is null then return null; end if;
  select * into above from grant_budget(p_developer_id, p_parent_grant_id);
  if above.currency <> p_allocation ->> 'currency' then return 'currency_mismatch'; end if;
  if above.remaining_units < allocated_units(p_allocation) then return 'insufficient'; end if;
  return null;
end
$$;

-- An amount as answers and events show it: with four decimals, and with more where it has more. A billion units are one.
create or replace function amount_text(p_units numeric) returns text language sql immutable as
$$
  select round(exact, greatest(scale(exact), 4))::text from trim_scale(p_units * 0.000000001) exact
$$;

-- A grant and the grants above it, the grant first, each with its allocation if it has one. Parents never change. The
-- amounts in ten-thousandths are for instances of the release before.
create or replace function budget_chain(p_developer_id text, p_grant_id text)
  returns table (grant_id text, status grant_status, expires_at timestamptz, agent_id text, agent_did text,
    principal_id text, purpose text, allocation_id text, currency text, initial bigint, remaining bigint,
    announced smallint, initial_units numeric, remaining_units numeric)
  language plpgsql stable set enable_seqscan = off as
$$
declare next_id text := p_grant_id;
begin
  while next_id is not null loop
    grant_id := next_id;
    select g.status, g.expires_at, g.agent_id, g.principal_id, g.purpose, g.parent_grant_id
      into status, expires_at, agent_id, principal_id, purpose, next_id
      from grants g where g.developer_id = p_developer_id and g.id = grant_id;
    if not found then return; end if;
    select a.did into agent_did from agents a where a.developer_id = p_developer_id and a.id = agent_id;
    select b.id, b.currency, b.initial, b.remaining, b.announced, b.initial_units, b.remaining_units
      into allocation_id, currency, initial, remaining, announced, initial_units, remaining_units
      from budget_allocations b where b.developer_id = p_developer_id and b.grant_id = budget_chain.grant_id;
    return next;
  end loop;
end
$$;

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

-- The money that a grant may still spend: the least that remains of its own allocation and of those above it, and what its
-- own was at first. No row without any. The amounts in ten-thousandths are for instances of the release before.
create or replace function grant_budget(p_developer_id text, p_grant_id text)
  returns table (remaining bigint, currency text, own_initial bigint, remaining_units numeric, own_initial_units numeric)
  language plpgsql stable set enable_seqscan = off as
$$
declare
  next_id text := p_grant_id;
  held    record;
begin
  while next_id is not null loop
    select b.remaining_units, b.currency, b.initial_units into held
      from budget_allocations b where b.developer_id = p_developer_id and b.grant_id = next_id;
    if found then
      remaining_units := least(remaining_units, held.remaining_units);
      currency := held.currency;
      if next_id = p_grant_id then own_initial_units := held.initial_units; end if;
    end if;
    select g.parent_grant_id into next_id from grants g where g.developer_id = p_developer_id and g.id = next_id;
  end loop;
  if remaining_units is null then return; end if;
  remaining := div(remaining_units, 100000);
  own_initial := div(own_initial_units, 100000);
  return next;
end
$$;

-- Makes the allocation of a grant, with its first entries. Returns whether the grant had none.
create or replace function open_allocation(p_developer_id text, p_allocation jsonb)
  returns boolean language plpgsql set enable_seqscan = off as
$$
declare
  new_one budget_allocations := jsonb_populate_record(null::budget_allocations, p_allocation);
  units   numeric := allocated_units(p_allocation);
begin
  insert into budget_allocations
    (developer_id, id, grant_id, currency, initial_units, remaining_units, announced, created_at, updated_at)
    values (p_developer_id, new_one.id, new_one.grant_id, new_one.currency, units, units, 0, new_one.created_at,
      new_one.updated_at)
    on conflict (developer_id, grant_id) where grant_id is not null do nothing;
  if not found then return false; end if;
  insert into budget_entries values
    (p_developer_id, new_one.id, new_one.id, 'funds', -units),
    (p_developer_id, new_one.id, new_one.id, 'available', units);
  return true;
end
$$;

-- The write of POST /v1/budget/allocate. The grant's row is locked, so that no revocation comes between check and insert,
-- and no debit that has read the allocations of its chain.
create or replace function write_allocation(p_developer_id text, p_at timestamptz, p_write jsonb)
  returns text language plpgsql set enable_seqscan = off as
$$
declare
  held    grants;
  refusal text;
begin
  select * into strict held from grants
    where developer_id = p_developer_id and id = p_write ->> 'grant_id' for no key update;
  if held.status <> 'active' then return 'revoked'; end if;
  if held.expires_at <= p_at then return 'expired'; end if;
  perform from budget_allocations where developer_id = p_developer_id and grant_id = held.id;
  if found then return 'allocated'; end if;
  refusal := allocation_refusal(p_developer_id, p_write, held.parent_grant_id);
  if refusal is not null then return refusal; end if;
  perform open_allocation(p_developer_id, p_write);
  return null;
end
$$;

-- The write of POST /v1/budget/debit: from the nearest allocation of a grant and from all above it, or from none. The
-- caller has read the chain of grants, which never changes, and their allocations. Grants are locked for share, so a
-- revocation waits or comes first; allocations are locked root first, so debits of one tree take turns. Each allocation
-- has the places of its acts: of the debit, and by its percentage of each share spent that may be announced. The function
-- chooses among them, because only the holder of the lock knows what remains. It returns `changed`, and has written
-- nothing, when an allocation or an act is missing. Instances of the release before name `amount`, in ten-thousandths, and
-- read the `remaining` of a refusal in them.
create or replace function write_debit(p_developer_id text, p_at timestamptz, p_write jsonb)
  returns text language plpgsql set enable_seqscan = off as
$$
declare
  chain   text[] := array(select jsonb_array_elements_text(p_write -> 'chain'));
  debited numeric := coalesce((p_write ->> 'units')::numeric, (p_write ->> 'amount')::numeric * 100000);
  step    jsonb;
  held    record;
  link    text;
  ours    budget_allocations;
  spent   numeric;
  share   smallint;
  acts    jsonb := '[]';
  fills   jsonb := '{}';
begin
  for link in select l from unnest(chain) l order by l loop
    select g.status, g.expires_at into held from grants g
      where g.developer_id = p_developer_id and g.id = link for share;
    if held.status <> 'active' then return 'revoked'; end if;
    if held.expires_at <= p_at then return 'expired'; end if;
  end loop;
  if (select count(*) from unnest(chain) l cross join lateral (
        select from budget_allocations b where b.developer_id = p_developer_id and b.grant_id = l limit 1) b)
    <> jsonb_array_length(p_write -> 'allocations') then return 'changed'; end if;

  for step in select jsonb_array_elements(p_write -> 'allocations') loop
    select * into strict ours from budget_allocations b
      where b.developer_id = p_developer_id and b.id = step ->> 'id' for no key update;
    if ours.remaining_units < debited then
      return jsonb_build_object('remaining', ours.remaining::text, 'units', ours.remaining_units::text,
        'allocationId', ours.id)::text;
    end if;
    spent := ours.initial_units - ours.remaining_units + debited;
    foreach share in array array[50, 80, 100]::smallint[] loop
      if ours.announced < share and spent * 100 >= ours.initial_units * share and not step -> 'shares' ? share::text then
        return 'changed';
      end if;
    end loop;
  end loop;

  for step in select jsonb_array_elements(p_write -> 'allocations') loop
    update budget_allocations b set remaining_units = b.remaining_units - debited, updated_at = p_at
      where b.developer_id = p_developer_id and b.id = step ->> 'id' returning * into ours;
    spent := ours.initial_units - ours.remaining_units;
    acts := acts || jsonb_build_array(step -> 'debited');
    foreach share in array array[50, 80, 100]::smallint[] loop
      continue when ours.announced >= share or spent * 100 < ours.initial_units * share;
      acts := acts || jsonb_build_array(step -> 'shares' -> share::text);
      update budget_allocations b set announced = share where b.developer_id = p_developer_id and b.id = ours.id;
    end loop;
    fills := fills || jsonb_build_object(step ->> 'stands', amount_text(ours.remaining_units));
    insert into budget_transactions (developer_id, id, allocation_id, grant_id, amount_units, balance_units, description,
        metadata, source_transaction_id, source_grant_id, created_at)
      values (p_developer_id, step ->> 'transactionId', ours.id, ours.grant_id, debited, ours.remaining_units,
        p_write ->> 'description', p_write -> 'metadata', step ->> 'sourceTransactionId', step ->> 'sourceGrantId', p_at);
    insert into budget_entries values
      (p_developer_id, ours.id, step ->> 'transactionId', 'available', -debited),
      (p_developer_id, ours.id, step ->> 'transactionId', 'spent', debited);
  end loop;
  return jsonb_build_object('made', jsonb_build_object('acts', acts, 'fills', fills))::text;
end
$$;

-- The write of POST /v1/budget/refund: a debit, or what is left of it, goes back to every allocation that it came from.
-- The allocations are locked as for a debit, root first, which also makes refunds of one debit take turns. Shares that were
-- announced stay so. Instances of the release before name `amount`, in ten-thousandths.
create or replace function write_refund(p_developer_id text, p_at timestamptz, p_write jsonb)
  returns text language plpgsql set enable_seqscan = off as
$$
declare
  -- Null for all that is left.
  back  numeric := coalesce((p_write ->> 'units')::numeric, (p_write ->> 'amount')::numeric * 100000);
  rest  numeric;
  step  jsonb;
  ours  budget_allocations;
  acts  jsonb := '[]';
  fills jsonb := '{}';
begin
  for step in select jsonb_array_elements(p_write -> 'allocations') loop
    perform from budget_allocations b
      where b.developer_id = p_developer_id and b.id = step ->> 'id' for no key update;
  end loop;
  select t.amount_units - t.refunded_units into strict rest
    from budget_transactions t where t.developer_id = p_developer_id and t.id = p_write ->> 'refundOf';
  back := coalesce(back, rest);
  if rest = 0 then return 'refunded'; end if;
  if back > rest then return 'too_large'; end if;

  fills := jsonb_build_object(p_write ->> 'stands', amount_text(back));
  for step in select jsonb_array_elements(p_write -> 'allocations') loop
    update budget_allocations b set remaining_units = b.remaining_units + back, updated_at = p_at
      where b.developer_id = p_developer_id and b.id = step ->> 'id' returning * into strict ours;
    update budget_transactions t set refunded_units = t.refunded_units + back
      where t.developer_id = p_developer_id and t.id = step ->> 'refundOf';
    insert into budget_transactions (developer_id, id, allocation_id, grant_id, amount_units, balance_units, description,
        metadata, source_transaction_id, source_grant_id, refund_of, created_at)
      values (p_developer_id, step ->> 'transactionId', ours.id, ours.grant_id, -back, ours.remaining_units,
        p_write ->> 'description', p_write -> 'metadata', step ->> 'sourceTransactionId', step ->> 'sourceGrantId',
        step ->> 'refundOf', p_at);
    insert into budget_entries values
      (p_developer_id, ours.id, step ->> 'transactionId', 'spent', -back),
      (p_developer_id, ours.id, step ->> 'transactionId', 'available', back);
    acts := acts || jsonb_build_array(jsonb_array_length(acts));
    fills := fills || jsonb_build_object(step ->> 'stands', amount_text(ours.remaining_units));
  end loop;
  return jsonb_build_object('made', jsonb_build_object('acts', acts, 'fills', fills))::text;
end
$$;
