import { query } from '../api/client.ts';
import { ShortId } from './text.tsx';

const useNewestAgents = () =>
  query.useQuery('get', '/v1/agents', { params: { query: { limit: 500 } } }, { staleTime: 60_000 });

/** The names of the newest agents, by their ids. A list of grants names agents by id only. */
export function useAgentNames(): ReadonlyMap<string, string> {
  const { data } = useNewestAgents();
  return new Map(data?.agents.map(({ agentId, name }) => [agentId, name]));
}

/** An agent by its name, or by its id where the name is not at hand. Until that is known its place is kept. */
export function AgentName({ id }: { readonly id: string }) {
  const { data, isPending } = useNewestAgents();
  if (isPending) return <span className="agent-name">…</span>;
  const agent = data?.agents.find(({ agentId }) => agentId === id);
  return agent ? <bdi className="agent-name">{agent.name}</bdi> : <ShortId id={id} />;
}
