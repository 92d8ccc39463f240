import type { Schemas } from '../../api/client.ts';
import { money, sayer } from '../../messages/language.ts';
import { AgentName } from '../../parts/agents.tsx';
import { Stop } from '../../parts/stop.tsx';
import type { Column } from '../../parts/table.tsx';
import { Id, Scopes, Status, When } from '../../parts/text.tsx';

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
  { id: 'status', header: say('status'), cell: ({ status }) => <Status status={status} /> },
  { id: 'scopes', header: say('scopes'), cell: ({ scopes }) => <Scopes scopes={scopes} most={2} /> },
  {
    id: 'left',
    header: say('left'),
    isNumber: true,
    cell: ({ budget }) =>
      budget ? money(budget.remaining, budget.currency) : <span className="aside">{say('noBudget')}</span>,
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
