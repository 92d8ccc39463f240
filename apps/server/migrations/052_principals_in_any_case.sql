-- Finds the active grants of a principal whose user name is compared without regard to case, when the person leaves.
create index grants_principal_folded on grants (developer_id, lower(principal_id)) where status = 'active';
-- Why grants end with their principal.
alter type revoked_reason add value if not exists 'principal_offboarded';
