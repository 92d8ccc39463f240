-- Owner: manifests. Who registered a version. Versions from before have none.
alter table manifest_versions add column actor text;
