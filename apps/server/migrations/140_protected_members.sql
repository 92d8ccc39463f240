-- Owner: members. Until when no other member can change or remove somebody whom the operator let in.
alter table members add column protected_until timestamptz;
