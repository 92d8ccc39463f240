-- Owner: consent. How many codes the consent page mailed for a developer on a day (UTC): the last day on which it mailed
-- one. Two days of one developer are never needed at once.
create table consent_mails (
  developer_id text primary key references developers,
  day          date not null,
  mails        integer not null
);
