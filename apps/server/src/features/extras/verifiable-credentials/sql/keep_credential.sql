-- Stores a signed credential. The caller holds its place.
create or replace function keep_credential(p_developer_id text, p_credential jsonb) returns void
  language plpgsql set enable_seqscan = off as
$$
begin
  update status_lists set used = used + 1
    where developer_id = p_developer_id and id = p_credential ->> 'status_list_id';
  insert into verifiable_credentials select (jsonb_populate_record(null::verifiable_credentials, p_credential)).*;
end
$$;
