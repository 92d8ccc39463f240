-- An account whose agents its developer has stopped, all at once: since when, and why. No agent and no grant is written,
-- so a resumed account has them as they are by then.
alter table developers add column stopped_at timestamptz;
alter table developers add column stop_reason text;
