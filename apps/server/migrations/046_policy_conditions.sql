-- Owner: policies. Further conditions, which hold always where they are null, and an effect that leaves the decision to a
-- person. `deny` comes before it at one priority, and `allow` after it.
alter type policy_effect add value 'require_approval' before 'allow';
alter table policies
  add column purposes text[] check (cardinality(purposes) between 1 and 100),
  -- IPv4 and IPv6 networks of the caller.
  add column networks text[] check (cardinality(networks) between 1 and 100),
  -- A name of the IANA database, in whose local time the days and the times of day are; null is UTC.
  add column time_zone text,
  add column days_of_week text[] check (cardinality(days_of_week) between 1 and 7),
  add column depth_min smallint check (depth_min between 0 and 255),
  add column depth_max smallint check (depth_max between 0 and 255),
  -- Conditions on the call of a tool.
  add column connector text,
  add column tools text[] check (cardinality(tools) between 1 and 100),
  add column argument_rules jsonb,
  add check (time_zone is null or day_start is not null or days_of_week is not null),
  add check (depth_min <= depth_max),
  add check (connector is not null or (tools is null and argument_rules is null));
