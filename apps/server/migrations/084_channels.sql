-- A request may come by another channel than a browser: it has no redirect URI and no code, and its client polls.
create type auth_channel as enum ('device', 'ciba');
alter table auth_requests
  add column channel auth_channel,
  -- The text that the person compares with the other device: a user code or a binding message.
  add column compared_text text;
