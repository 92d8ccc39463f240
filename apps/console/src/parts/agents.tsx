import { query, type Schemas } from '../api/client.ts';
import { sayer } from '../messages/language.ts';
import { useSession } from '../session/session.ts';
import { ShortId, Status } from './text.tsx';

const say = sayer('actors');

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

/** What the reader calls who did something, whom the audit log names by the id of a member or a key. */
export function useActorNames(): (actor: string) => string {
  const members = query.useQuery('get', '/v1/members', {}, { staleTime: 60_000 });
  const keys = query.useQuery(
    'get',
    '/v1/keys',
    { params: { query: { limit: 100 } } },
    { staleTime: 60_000 },
  );
  const own = `member:${useSession().member.memberId}`;
  const names = new Map<string, string>([
    ...(members.data?.members ?? []).map((each) => [`member:${each.memberId}`, each.displayName] as const),
    ...(keys.data?.keys ?? []).map(
      (each) => [`developer:${each.keyId}`, say('keyOf', { name: each.name })] as const,
    ),
  ]);
  return (actor) => {
    if (actor === own) return say('you');
    if (actor.startsWith('developer:')) return names.get(actor) ?? say('key');
    return names.get(actor) ?? (members.data && actor.startsWith('member:') ? say('removed') : actor);
  };
}
