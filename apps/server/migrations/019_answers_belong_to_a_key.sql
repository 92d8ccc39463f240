-- `answer_key` is a hash of the caller too, so an answer is found by the API key alone that got it, and its role does not
-- matter. The next release drops the column.
alter table idempotent_answers alter column role drop not null;
