-- Owner: budgets. The money that a grant may spend: at most one allocation for each grant, ever. `remaining_units` is the
-- balance of the account `available` in budget_entries. `announced` is the highest share spent that was announced, in
-- percent; a refund does not take it back.
--
-- Amounts have nine decimals, because a call of a model costs less than a ten-thousandth. They are whole numbers of units,
-- of which a billion are one of the currency; bigint does not hold the largest. The columns in ten-thousandths are for
-- instances of the release before, which prepare statements with them: they round down. Constraints have the names of
-- those columns.
create table budget_allocations (
  developer_id    text not null references developers,
  id              text not null,
  grant_id        text not null,
  currency        text not null check (currency ~ '^[A-Z]{3}$'),
  initial_units   numeric(21) not null constraint budget_allocations_initial_check check (initial_units > 0),
  remaining_units numeric(21) not null check (remaining_units between 0 and initial_units),
  announced       smallint not null default 0 check (announced in (0, 50, 80, 100)),
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  initial         bigint not null generated always as (div(initial_units, 100000)::bigint) stored,
  remaining       bigint not null generated always as (div(remaining_units, 100000)::bigint) stored,
  primary key (developer_id, id),
  foreign key (developer_id, grant_id) references grants
) with (autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.05);
create unique index budget_allocations_developer_id_grant_id_key on budget_allocations (developer_id, grant_id)
  where grant_id is not null;

-- Owner: budgets. A debit or a refund, one row for each allocation that it concerns: that of the grant, or the nearest
-- above it, and those above that, which name the first as their source. A refund has a negative amount.
create table budget_transactions (
  developer_id          text not null,
  id                    text not null,
  allocation_id         text not null,
  grant_id              text not null,
  amount_units          numeric(21) not null constraint budget_transactions_amount_check check (amount_units <> 0),
  refunded_units        numeric(21) not null default 0,
  balance_units         numeric(21) not null constraint budget_transactions_balance_after_check check (balance_units >= 0),
  description           text not null,
  metadata              jsonb not null,
  source_transaction_id text,
  source_grant_id       text,
  refund_of             text,
  created_at            timestamptz not null,
  amount                bigint not null generated always as (div(amount_units, 100000)::bigint) stored,
  refunded              bigint not null generated always as (div(refunded_units, 100000)::bigint) stored,
  balance_after         bigint not null generated always as (div(balance_units, 100000)::bigint) stored,
  primary key (developer_id, id),
  foreign key (developer_id, allocation_id) references budget_allocations,
  constraint refunds_within_debits
    check (case when amount_units > 0 then refunded_units between 0 and amount_units else refunded_units = 0 end)
) with (autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.05);
-- A refund finds the rows that a debit made above the nearest allocation.
create index budget_transactions_source on budget_transactions (developer_id, source_transaction_id)
  where source_transaction_id is not null;
-- GET /v1/budget/transactions/:grantId.
create index budget_transactions_allocation on budget_transactions (developer_id, allocation_id, id)
  where allocation_id is not null;

-- Owner: budgets. The double entries of the ledger, which nothing changes: each movement takes from one account of an
-- allocation and gives the same to another, so its entries add up to zero. `funds` is where the money comes from.
-- `movement_id` is the allocation that was made, or the transaction.
create type budget_account as enum ('funds', 'available', 'spent');
create table budget_entries (
  developer_id  text not null,
  allocation_id text not null,
  movement_id   text not null,
  account       budget_account not null,
  units         numeric(21) not null constraint budget_entries_amount_check check (units <> 0),
  primary key (developer_id, allocation_id, movement_id, account),
  foreign key (developer_id, allocation_id) references budget_allocations
) with (autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.05);
