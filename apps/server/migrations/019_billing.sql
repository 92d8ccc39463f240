-- Owner: billing. Finds the developer of a customer of the payment provider, of which each developer has one.
create table billing_customers (
  customer_id  text primary key,
  developer_id text not null unique references developers
);

-- Owner: billing. The subscription of a developer as the provider told last. `effective_plan` is the plan that it gives now:
-- a failed payment leaves the plan until `grace_ends_at`. `told_at` is the provider's time of the last event that counted.
create type subscription_status as enum ('active', 'past_due', 'canceled');
create table subscriptions (
  developer_id         text primary key references developers,
  subscription_id      text not null,
  plan                 plan not null,
  effective_plan       plan not null,
  status               subscription_status not null,
  current_period_end   timestamptz,
  cancel_at_period_end boolean not null,
  grace_ends_at        timestamptz,
  told_at              timestamptz not null,
  updated_at           timestamptz not null,
  -- Counts the changes of a subscription, so that a state which was read before another change is not
  -- stored after it.
  version              integer not null default 1,
  check ((status = 'past_due') = (grace_ends_at is not null))
);
-- Finds the subscriptions whose grace has ended, across tenants.
create index subscriptions_grace on subscriptions (grace_ends_at) where effective_plan <> 'free';

-- Owner: billing. The provider's events that were processed: each once, in the transaction of its effect.
create table billing_events (
  developer_id text not null references developers,
  event_id     text not null,
  created_at   timestamptz not null,
  primary key (developer_id, event_id)
);
