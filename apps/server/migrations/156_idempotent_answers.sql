-- Owner: platform/http/idempotency. What checkouts before 040 had stored for a day: the role of a key, and fingerprints
-- without a key, which the index found.
drop index if exists idempotent_answers_plain;
alter table idempotent_answers drop column if exists role;
