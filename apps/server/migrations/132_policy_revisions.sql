-- Owner: policies. What a policy was after each change, on the wire's names of its fields, and who made the change. Policies
-- from before this table have their present state as the first row, without an actor. `principal_id` repeats that of the policy,
-- for the export of a person's data.
create table policy_revisions (
  developer_id text not null,
  policy_id    text collate "C" not null,
  version      integer not null check (version > 0),
  policy       jsonb not null,
  principal_id text,
  actor        text,
  created_at   timestamptz not null,
  primary key (developer_id, policy_id, version)
);
insert into policy_revisions (developer_id, policy_id, version, policy, principal_id, created_at)
select developer_id, id, version,
  jsonb_build_object(
    'name', name, 'effect', effect, 'priority', priority, 'agentId', agent_id, 'principalId', principal_id,
    'scopes', scopes, 'timeOfDayStart', to_char(make_interval(mins => day_start), 'HH24:MI'),
    'timeOfDayEnd', to_char(make_interval(mins => day_end), 'HH24:MI'), 'timeZone', time_zone,
    'daysOfWeek', days_of_week, 'purposes', purposes, 'networks', networks, 'delegationDepthMin', depth_min,
    'delegationDepthMax', depth_max, 'connector', connector, 'tools', tools, 'arguments', argument_rules),
  principal_id, updated_at
from policies;
