-- Shares the rows of agents until the commit, for a group of hot writes, before the first of them locks anything else.
create or replace function share_agents(p_developer_id text, p_ids text[]) returns void
  language plpgsql set enable_seqscan = off as
$$
begin
  perform from agents where developer_id = p_developer_id and id = any (p_ids) order by id for share;
end
$$;
