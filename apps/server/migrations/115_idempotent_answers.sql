-- Owner: platform/idempotency. What was answered to a request that had an Idempotency-Key, for when it comes again.
-- `place` is a hash of developer, method, path and key; `fingerprint` one of query and body. `body` is sealed, since
-- answers hold keys, tokens and codes. `role` is that of the API key that was answered.
create table idempotent_answers (
  developer_id text not null references developers,
  place        bytea not null,
  fingerprint  bytea not null,
  role         key_role not null,
  status       smallint not null,
  body         bytea not null,
  expires_at   timestamptz not null,
  primary key (developer_id, place)
);
-- Finds what is no longer needed, across tenants.
create index idempotent_answers_due on idempotent_answers (expires_at);

-- Owner: platform/idempotency. Takes a place until the transaction ends, unless another transaction has it, and says
-- what was answered there. PL/pgSQL, since its second statement has to see what the former holder committed: one
-- statement for both would look as of before the lock.
create function claim_idempotent_answer(p_developer_id text, p_place bytea, p_at timestamptz)
  returns table (is_taken boolean, fingerprint bytea, role key_role, status smallint, body bytea)
  language plpgsql as
$$
begin
  is_taken := not pg_try_advisory_xact_lock(
    hashtextextended('idempotency:' || p_developer_id || ':' || encode(p_place, 'hex'), 0));
  if not is_taken then
    select known.fingerprint, known.role, known.status, known.body into fingerprint, role, status, body
      from idempotent_answers known
      where known.developer_id = p_developer_id and known.place = p_place and known.expires_at > p_at;
  end if;
  return next;
end
$$;
