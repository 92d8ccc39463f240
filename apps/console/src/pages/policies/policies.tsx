import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { query, type Schemas } from '../../api/client.ts';
import { number, sayer } from '../../messages/language.ts';
import { AgentName } from '../../parts/agents.tsx';
import { Page } from '../../parts/page.tsx';
import { Empty, Loading, Problem } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Id, Scopes, When } from '../../parts/text.tsx';
import { policiesRoute } from '../routes.ts';
import { Effect } from './effect.tsx';

const say = sayer('policies');
const sayField = sayer('policy');

type Policy = Schemas['PolicyRecord'];

const columnsOf = (unknownAgents: readonly string[]): readonly Column<Policy>[] => [
  { id: 'name', header: say('name'), cell: ({ name }) => <bdi>{name}</bdi>, isFixed: true },
  { id: 'effect', header: say('effect'), cell: ({ effect }) => <Effect effect={effect} /> },
  { id: 'priority', header: say('priority'), cell: ({ priority }) => number(priority), isNumber: true },
  {
    id: 'actsOn',
    header: say('actsOn'),
    cell: (policy) => <ActsOn policy={policy} unknownAgents={unknownAgents} />,
  },
  { id: 'limits', header: say('limits'), cell: limitsOf },
  {
    id: 'version',
    header: say('version'),
    cell: ({ version }) => number(version),
    isNumber: true,
    isExtra: true,
  },
  { id: 'changed', header: say('changed'), cell: ({ updatedAt }) => <When at={updatedAt} /> },
  { id: 'id', header: say('id'), cell: ({ id }) => <Id id={id} />, isExtra: true },
];

interface ActsOnProps {
  readonly policy: Policy;
  /** The ids that no agent has. */
  readonly unknownAgents: readonly string[];
}

/** Whose requests a policy decides about, and for what. */
function ActsOn({ policy, unknownAgents }: ActsOnProps) {
  const { agentId, principalId, scopes, connector, tools } = policy;
  return (
    <span className="scopes">
      {agentId !== null && <AgentName id={agentId} />}
      {agentId !== null && unknownAgents.includes(agentId) && (
        <span className="status status-warn">{say('neverMatches')}</span>
      )}
      {principalId !== null && <bdi>{principalId}</bdi>}
      {scopes && <Scopes scopes={scopes} />}
      {connector !== null && <Scopes scopes={tools?.map((tool) => `${connector}.${tool}`) ?? [connector]} />}
      {[agentId, principalId, scopes, connector].every((each) => each === null) && say('everything')}
    </span>
  );
}

/** The further conditions, in few words. */
function limitsOf(policy: Policy): string {
  const { timeOfDayStart, timeOfDayEnd, timeZone, daysOfWeek, purposes, networks } = policy;
  const { delegationDepthMin: least, delegationDepthMax: most } = policy;
  return [
    timeOfDayStart && `${timeOfDayStart}–${timeOfDayEnd} ${timeZone ?? 'UTC'}`,
    daysOfWeek?.map((day) => sayDay(day)).join(', '),
    purposes?.join(', '),
    networks?.join(', '),
    (least !== null || most !== null) && say('depth', { from: least ?? 0, to: most ?? '∞' }),
    policy.arguments && sayField('arguments'),
  ]
    .filter(Boolean)
    .join(' · ');
}

function sayDay(day: string): string {
  switch (day) {
    case 'mon':
    case 'tue':
    case 'wed':
    case 'thu':
    case 'fri':
    case 'sat':
    case 'sun':
      return sayField(day);
    default:
      return day;
  }
}

export function Policies() {
  const { cursor } = policiesRoute.useSearch();
  const list = query.useQuery('get', '/v1/policies', {
    params: { query: { limit: 100, ...(cursor && { cursor }) } },
  });
  const columns = useMemo(() => columnsOf(list.data?.unknownAgents ?? []), [list.data]);
  return (
    <Page
      title={say('title')}
      lead={say('lead')}
      actions={
        <Link to="/policies/new" className="button strong">
          {say('new')}
        </Link>
      }
    >
      {list.error && <Problem error={list.error} retry={() => void list.refetch()} />}
      {list.isPending && <Loading />}
      {list.data && (
        <Table
          name="policies"
          label={say('title')}
          rows={list.data.policies}
          columns={columns}
          rowId={({ id }) => id}
          link={({ id }) => ({ to: '/policies/$policyId', params: { policyId: id } })}
          paging={{ cursor, nextCursor: list.data.nextCursor }}
          empty={<Templates />}
        />
      )}
    </Page>
  );
}

const Templates = () => (
  <Empty title={say('none')}>
    <p>{say('noneText')}</p>
    <p className="actions">
      <Link to="/policies/new" search={{ template: 'night' }} className="button">
        {say('night')}
      </Link>
      <Link to="/policies/new" search={{ template: 'deletes' }} className="button">
        {say('deletes')}
      </Link>
    </p>
  </Empty>
);
