-- The status by which an agent is judged: that of its row, and `suspended` for an active one of a stopped account. The
-- planner writes its text into the statements that call it.
create or replace function standing(p_developer_id text, p_status agent_status, p_stopped_at timestamptz)
  returns agent_status language sql immutable as
$$ select case when p_status = 'active' and p_stopped_at is not null then 'suspended' else p_status end $$;
