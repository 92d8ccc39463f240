-- Owner: grants. The agents that passed a grant on, by their DIDs, the nearest first and the root's last. Kept,
-- since every token of the grant says it, and is held against it each time it is verified. A grant that was there
-- before this column is a root. Ten delegations are the most that any setting allows.
alter table grants add column delegated_by text[] not null default '{}';
alter table grants alter column delegated_by drop default;
alter table grants add constraint grants_chain
  check (delegation_depth between 0 and 10 and cardinality(delegated_by) = delegation_depth);

-- Owner: developers. How deep its agents may delegate; null leaves it to the operator.
alter table developers add column max_delegation_depth smallint check (max_delegation_depth between 1 and 10);
