import { Link } from '@tanstack/react-router';
import type { Schemas } from '../../api/client.ts';
import { money, sayer } from '../../messages/language.ts';
import { AgentName, GrantStatus } from '../../parts/agents.tsx';
import { Stop } from '../../parts/stop.tsx';
import type { Column } from '../../parts/table.tsx';
import { Id, Scopes, When } from '../../parts/text.tsx';

const say = sayer('grants');

type Grant = Schemas['Grant'];

/** Of every list of grants. */
export const grantColumns: readonly Column<Grant>[] = [
  {
    id: 'agent',
    header: say('agent'),
    isFixed: true,
    cell: ({ agentId }) => <AgentName id={agentId} />,
  },
  { id: 'person', header: say('person'), cell: ({ principalId }) => <bdi>{principalId}</bdi> },
  {
    id: 'status',
    header: say('status'),
    cell: (grant) => (
      <span>
        <GrantStatus {...grant} /> <Delegated grant={grant} />
      </span>
    ),
  },
  { id: 'scopes', header: say('scopes'), cell: ({ scopes }) => <Scopes scopes={scopes} most={2} /> },
  {
    id: 'left',
    header: say('left'),
    isNumber: true,
    cell: (grant) => <MoneyLeft grant={grant} />,
  },
  { id: 'expires', header: say('expires'), cell: ({ expiresAt }) => <When at={expiresAt} /> },
  { id: 'used', header: say('used'), cell: ({ lastUsedAt }) => <When at={lastUsedAt} /> },
  { id: 'purpose', header: say('purpose'), isExtra: true, cell: ({ purpose }) => purpose },
  { id: 'id', header: say('id'), isExtra: true, cell: ({ grantId }) => <Id id={grantId} of={say('id')} /> },
  {
    id: 'stop',
    header: say('actions'),
    isFixed: true,
    cell: ({ grantId, status }) =>
      status === 'active' && (
        <Stop size="small" target={{ kind: 'grant', id: grantId, name: say('grantOf', { id: grantId }) }} />
      ),
  },
];

/** Says that another agent passed the authority on, and leads to the grant that it comes from. */
const Delegated = ({ grant: { parentGrantId, delegationDepth } }: { readonly grant: Grant }) =>
  parentGrantId !== undefined && (
    <Link className="delegated" to="/grants/$grantId" params={{ grantId: parentGrantId }}>
      {say('delegated', { depth: delegationDepth })} <span className="unseen">{say('toParent')}</span>
    </Link>
  );

/** Of what the grant itself was given. Those above it may have less. */
function MoneyLeft({ grant: { budget, parentGrantId } }: { readonly grant: Grant }) {
  if (!budget)
    return <span className="aside">{say(parentGrantId === undefined ? 'noBudget' : 'noOwnBudget')}</span>;
  const { remaining, amount, currency } = budget;
  return (
    <span>
      {money(remaining, currency)}{' '}
      <span className="aside">{say('of', { limit: money(amount, currency) })}</span>
    </span>
  );
}
