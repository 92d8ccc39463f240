-- Owner: scim. Groups as the identity provider tells of them.
create table scim_groups (
  developer_id text not null references developers,
  id           text not null,
  display_name text not null,
  external_id  text,
  version      integer not null,
  created_at   timestamptz not null,
  updated_at   timestamptz not null,
  primary key (developer_id, id)
);
-- A filter by `displayName`; one name, one group.
create unique index scim_groups_display_name on scim_groups (developer_id, lower(display_name));
-- A filter by `externalId`; one identifier, one group.
create unique index scim_groups_external_id on scim_groups (developer_id, external_id) where external_id is not null;

-- Owner: scim. The users in each group.
create table scim_members (
  developer_id text not null,
  group_id     text not null,
  user_id      text not null,
  primary key (developer_id, group_id, user_id),
  foreign key (developer_id, group_id) references scim_groups on delete cascade,
  foreign key (developer_id, user_id) references scim_users on delete cascade
);
-- The groups of a user.
create index scim_members_user on scim_members (developer_id, user_id, group_id);
