-- A new endpoint begins in the prompt lane, with one place until its first delivery.
alter table webhook_endpoints alter column is_prompt set default true;
