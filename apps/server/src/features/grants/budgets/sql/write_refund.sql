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
