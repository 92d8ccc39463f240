-- Whether a signal is the first of its subject that waits. A paused stream sends the news of its pause alone.
create or replace function may_send_set(p_developer_id text, p_webhook_id text, p_state stream_state, p_type text,
  p_subject text, p_seq bigint, p_id text) returns boolean language sql stable as
$$
  select p_state <> 'off' and (p_state <> 'holding' or p_type = 'ssf.stream_updated')
    and not exists (select from webhook_deliveries b
      where b.developer_id = p_developer_id and b.webhook_id = p_webhook_id and b.status = 'pending'
        and b.subject = p_subject and b.seq is not null and (b.seq, b.id) < (p_seq, p_id))
$$;
