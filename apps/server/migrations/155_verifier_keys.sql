-- The credential that registered a verifier, as the audit log names it. Nobody else renews its lease. A verifier from before has
-- none: it registers again.
alter table verifiers add column registered_by text not null default '';
