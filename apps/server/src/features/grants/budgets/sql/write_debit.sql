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
