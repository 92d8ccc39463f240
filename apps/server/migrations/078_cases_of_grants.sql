-- The grants whose requests through the vault proxy may name the case.
alter table decision_cases add column grant_ids text[] not null default '{}';
