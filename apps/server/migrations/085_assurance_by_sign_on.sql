-- Approvers for whom the provider of a verified domain vouches. The subject is fixed at enrolment.
alter type approver_assurance add value if not exists 'sso';
alter table approvers
  add column sso_sub text,
  add column sso_user_id text;
-- The approver whom a provider's user is, when that user leaves.
create index approvers_sso_user on approvers (developer_id, sso_user_id) where sso_user_id is not null;

alter table developers
  add column four_eyes_assurance text not null default 'dual' check (four_eyes_assurance in ('dual', 'sso')),
  add column relax_four_eyes boolean not null default false;
-- Sandbox accounts from before relaxed the rule without a switch.
update developers set relax_four_eyes = true where mode = 'sandbox';
