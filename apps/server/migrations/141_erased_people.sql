-- Owner: policies. Versions whose policy named a person, who may ask for them or be erased.
create index policy_revisions_principal on policy_revisions (developer_id, principal_id)
  where principal_id is not null;
-- The newest version of a policy that names an erased person. It goes with the next change of the policy.
alter table policy_revisions add column is_erased boolean not null default false;
