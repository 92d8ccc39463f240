-- The news of a stream itself, which a paused stream sends while it holds everything else.
create index webhook_deliveries_news on webhook_deliveries (developer_id, webhook_id, seq, id)
  where status = 'pending' and seq is not null and event_type = 'ssf.stream_updated';
