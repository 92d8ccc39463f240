-- Owner: approvers. Browsers in which approvers have turned on notifications. The endpoint and the keys of the browser are
-- sealed together, because they are all that sending to it needs. The push server accepts messages only if they are signed
-- with the VAPID key that the browser was given.
create table approver_subscriptions (
  developer_id  text not null references developers,
  id            text not null,
  approver_id   text not null,
  endpoint_hash bytea not null,
  vapid_key     text not null,
  sealed        bytea not null,
  seal_key_id   text not null,
  created_at    timestamptz not null,
  primary key (developer_id, id),
  foreign key (developer_id, approver_id) references approvers on delete cascade
);
-- A browser belongs to one approver of an account.
create unique index approver_subscriptions_endpoint on approver_subscriptions (developer_id, endpoint_hash);
-- The browsers of approvers.
create index approver_subscriptions_approver on approver_subscriptions (developer_id, approver_id);

-- A notice goes to an address, to a channel, or to a browser.
alter table decision_notices add column subscription_id text;
alter table decision_notices add foreign key (developer_id, subscription_id) references approver_subscriptions on delete cascade;
alter table decision_notices drop constraint decision_notices_check;
alter table decision_notices add check (num_nonnulls(approver_id, channel_id, subscription_id) = 1);
