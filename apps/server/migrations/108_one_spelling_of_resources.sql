-- A resource is found by the one spelling of its URI (`canonicalResource`): scheme and host in lower case, without the port
-- that the scheme has anyway, and without the slash of an origin. Rows in other spellings stay for instances of the release
-- before, which look for the text that was registered. Of two resources that differed in their spelling alone, the one that
-- has the one spelling already goes on being found.
insert into resource_index (resource, hash, developer_id, resource_id)
  select regexp_replace(regexp_replace(lower(part.origin), '^(https://.*):(443)?$', '\1'), '^(http://.*):(80)?$', '\1')
      || regexp_replace(substr(i.resource, length(part.origin) + 1), '^/(\?|$)', '\1'),
    i.hash, i.developer_id, i.resource_id
  from resource_index i, substring(i.resource from '^https?://[^/?#]+') as part (origin)
  where part.origin is not null
  on conflict (resource) do nothing;
