-- The form in which an endpoint gets events: the envelope, or an event of OCSF, which a SIEM reads.
create type webhook_format as enum ('envelope', 'ocsf');
alter table webhook_endpoints add column format webhook_format not null default 'envelope';
