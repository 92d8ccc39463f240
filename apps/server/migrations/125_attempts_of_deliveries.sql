-- Owner: webhooks. The latest attempts at a delivery, oldest first: `n`, `at`, `statusCode`, `error`, `durationMs`.
-- Attempts before this column are only counted.
alter table webhook_deliveries add column attempt_log jsonb not null default '[]';
