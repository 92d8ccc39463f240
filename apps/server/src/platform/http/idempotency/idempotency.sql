-- Takes an answer key until the transaction ends, unless another transaction has it, and returns the stored
-- answer. PL/pgSQL, because its second statement has to see the commit of the former holder: a single statement for both
-- would read the state before the lock.
create or replace function claim_idempotent_answer(p_developer_id text, p_answer_key bytea, p_at timestamptz)
  returns table (is_taken boolean, fingerprint bytea, status smallint, body bytea)
  language plpgsql as
$$
begin
  is_taken := not pg_try_advisory_xact_lock(
    hashtextextended('idempotency:' || p_developer_id || ':' || encode(p_answer_key, 'hex'), 0));
  if not is_taken then
    select known.fingerprint, known.status, known.body into fingerprint, status, body
      from idempotent_answers known
      where known.developer_id = p_developer_id and known.answer_key = p_answer_key and known.expires_at > p_at;
  end if;
  return next;
end
$$;
