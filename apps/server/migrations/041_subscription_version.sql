-- Owner: billing. Counts the changes of a subscription, so that a state which was read before another change is not
-- stored after it.
alter table subscriptions add column version integer not null default 1;
