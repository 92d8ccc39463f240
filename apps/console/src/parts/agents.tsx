import { query } from '../api/client.ts';
import { ShortId } from './text.tsx';

/** The names of the newest agents, by their ids. A list of grants names agents by id only. */
export function useAgentNames(): ReadonlyMap<string, string> {
  const { data } = query.useQuery(
    'get',
    '/v1/agents',
    { params: { query: { limit: 500 } } },
    { staleTime: 60_000 },
  );
  return new Map(data?.agents.map(({ agentId, name }) => [agentId, name]));
}

/** An agent by its name, or by its id where the name is not at hand. */
export function AgentName({ id }: { readonly id: string }) {
  const name = useAgentNames().get(id);
  return name === undefined ? <ShortId id={id} /> : <bdi>{name}</bdi>;
}
