-- Fingerprints of requests are keyed hashes of 33 bytes. The service replaces the plain ones of 32 bytes, which this index
-- finds. The next release drops it.
create index idempotent_answers_plain on idempotent_answers (expires_at) where octet_length(fingerprint) = 32;
