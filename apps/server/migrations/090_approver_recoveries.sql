-- From then on the link of the operator (`invite_hash`) replaces the passkeys of an active approver.
alter table approvers add column recovery_from timestamptz;
