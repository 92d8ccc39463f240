-- A notice that waits, with others of the same approver, for one mail. All that wait have one time of sending.
alter table decision_notices add column is_gathered boolean not null default false;
-- The notices that wait for an approver's next digest.
create index decision_notices_gathered on decision_notices (developer_id, approver_id) where is_gathered;
