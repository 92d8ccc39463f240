import { query, type Schemas } from '../api/client.ts';
import { ShortId, Status } from './text.tsx';

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

/** What the API calls a suspended agent was stopped, and can be resumed. Of a stopped account nothing else counts. */
export function AgentStatus({ status }: Pick<Schemas['Agent'], 'status'>) {
  const isStopped = useStoppedAccount();
  if (status === 'active' && isStopped) return <Status status="stoppedWithAccount" />;
  return <Status status={status === 'suspended' ? 'stopped' : status} />;
}

/** The state of a grant, or of a token of it, as it is judged now: good only while its agent and the account are. */
export function GrantStatus({ status, agentStatus }: Pick<Schemas['Grant'], 'status' | 'agentStatus'>) {
  const isStopped = useStoppedAccount();
  if (status !== 'active') return <Status status={status} />;
  if (isStopped) return <Status status="stoppedWithAccount" />;
  return <Status status={agentStatus === 'suspended' ? 'stoppedWithAgent' : status} />;
}

/** The shell reads the account too, so this asks for nothing more. */
const useStoppedAccount = () => query.useQuery('get', '/v1/me').data?.stoppedAt != null;
