-- Owner: usage. Calls of the vault proxy that an upstream answered. They are outside the sum of the day.
alter table usage_daily add column proxy_calls bigint not null default 0;
