-- Owner: budgets. The money that a grant may spend, in ten-thousandths of the currency's unit: at most one allocation for
-- each grant, ever. `remaining` is the balance of the account `available` in budget_entries. `announced` is the highest
-- share spent that was announced, in percent; a refund does not take it back.
create table budget_allocations (
  developer_id text not null references developers,
  id           text not null,
  grant_id     text not null,
  currency     text not null check (currency ~ '^[A-Z]{3}$'),
  initial      bigint not null check (initial > 0),
  remaining    bigint not null check (remaining between 0 and initial),
  announced    smallint not null default 0 check (announced in (0, 50, 80, 100)),
  created_at   timestamptz not null,
  updated_at   timestamptz not null,
  primary key (developer_id, id),
  unique (developer_id, grant_id),
  foreign key (developer_id, grant_id) references grants
);

-- Owner: budgets. A debit or a refund, one row for each allocation that it concerns: that of the grant, or the nearest
-- above it, and those above that, which name the first as their source. A refund has a negative amount.
create table budget_transactions (
  developer_id          text not null,
  id                    text not null,
  allocation_id         text not null,
  grant_id              text not null,
  amount                bigint not null check (amount <> 0),
  refunded              bigint not null default 0,
  balance_after         bigint not null check (balance_after >= 0),
  description           text not null,
  metadata              jsonb not null,
  source_transaction_id text,
  source_grant_id       text,
  refund_of             text,
  created_at            timestamptz not null,
  primary key (developer_id, id),
  foreign key (developer_id, allocation_id) references budget_allocations,
  constraint refunds_within_debits check (case when amount > 0 then refunded between 0 and amount else refunded = 0 end)
);
-- GET /v1/budget/transactions/:grantId.
create index budget_transactions_allocation on budget_transactions (developer_id, allocation_id, id);
-- A refund finds the rows that a debit made above the nearest allocation.
create index budget_transactions_source on budget_transactions (developer_id, source_transaction_id)
  where source_transaction_id is not null;

-- Owner: budgets. The double entries of the ledger, which nothing changes: each movement takes from one account of an
-- allocation and gives the same to another, so its entries add up to zero. `funds` is where the money comes from.
-- `movement_id` is the allocation that was made, or the transaction.
create type budget_account as enum ('funds', 'available', 'spent');
create table budget_entries (
  developer_id  text not null,
  allocation_id text not null,
  movement_id   text not null,
  account       budget_account not null,
  amount        bigint not null check (amount <> 0),
  primary key (developer_id, allocation_id, movement_id, account),
  foreign key (developer_id, allocation_id) references budget_allocations
);

-- The budget that is allocated with the grant, once the request is exchanged.
alter table auth_requests
  add column budget_amount   bigint check (budget_amount > 0),
  add column budget_currency text check (budget_currency ~ '^[A-Z]{3}$'),
  add check ((budget_amount is null) = (budget_currency is null));
