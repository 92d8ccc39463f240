import { useMemo } from 'react';
import { Button } from 'react-aria-components';
import { query } from '../../api/client.ts';
import { sayer, statusWord } from '../../messages/language.ts';
import { AgentName } from '../../parts/agents.tsx';
import { Evidence } from '../../parts/evidence.tsx';
import { Choice, ClearFilters, DaysFilter, TextFilter, useAddress, useKept } from '../../parts/filters.tsx';
import { Page } from '../../parts/page.tsx';
import { Empty, Loading, Problem } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { At, Status } from '../../parts/text.tsx';
import { Chain } from '../overview/chain.tsx';
import { auditRoute } from '../routes.ts';
import { actorOf, CheckMark, type Entry, useChecked } from './check.tsx';
import { Export } from './export.tsx';

const say = sayer('audit');

const columns: readonly Column<Entry>[] = [
  { id: 'seq', header: say('seq'), cell: ({ seq }) => seq, isNumber: true, isFixed: true },
  { id: 'action', header: say('action'), cell: ({ action }) => <code>{action}</code>, isFixed: true },
  { id: 'status', header: say('status'), cell: ({ status }) => <Status status={status} /> },
  {
    id: 'agent',
    header: say('agent'),
    cell: ({ agentId }) => agentId !== null && <AgentName id={agentId} />,
  },
  { id: 'person', header: say('person'), cell: ({ principalId }) => <bdi>{principalId}</bdi> },
  { id: 'actor', header: say('actor'), cell: (entry) => <bdi>{entry.actorName ?? actorOf(entry)}</bdi> },
  {
    id: 'request',
    header: say('requestId'),
    cell: ({ requestId }) => <code>{requestId}</code>,
    isExtra: true,
  },
  { id: 'at', header: say('at'), cell: ({ timestamp }) => <At at={timestamp} /> },
];

const STATUSES = ['success', 'failure', 'blocked'] as const;
const NAMES = [
  'action',
  'status',
  'principalId',
  'agentId',
  'actor',
  'requestId',
  'since',
  'until',
  'order',
] as const;

/** The entries of the chain, each of which the browser verifies itself. */
export function Audit() {
  const { cursor, ...filters } = auditRoute.useSearch();
  const list = useKept(
    query.useQuery('get', '/v1/audit/entries', {
      params: { query: { order: 'desc', ...filters, limit: 50, ...(cursor && { cursor }) } },
    }),
  );
  const entries = list.data?.entries;
  const checked = useChecked(entries);
  const withChecks = useMemo<readonly Column<Entry>[]>(
    () => [
      ...columns,
      {
        id: 'check',
        header: say('check'),
        isFixed: true,
        cell: ({ entryId }) => <CheckMark verdict={checked.get(entryId)} />,
      },
    ],
    [checked],
  );
  const change = useAddress();
  const { action, status, principalId, agentId, actor, requestId, since, until, order } = filters;
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <Page
      title={say('title')}
      lead={say('lead')}
      actions={
        <>
          <Evidence of={{ agentId, principalId, since, until }} />
          <Export filters={filters} />
        </>
      }
    >
      <Chain />
      {list.error && <Problem error={list.error} retry={() => void list.refetch()} />}
      {list.isPending && <Loading />}
      {entries && (
        <Table
          name="audit"
          label={say('title')}
          rows={entries}
          columns={withChecks}
          rowId={({ entryId }) => entryId}
          link={({ entryId }) => ({ to: '/audit/$entryId', params: { entryId } })}
          live={{
            types: ['*'],
            about: { agentId, principalId },
            readAt: list.dataUpdatedAt,
            load: () => void list.refetch(),
          }}
          paging={{ cursor, nextCursor: list.data?.nextCursor }}
          filters={
            <>
              <TextFilter name="action" label={say('action')} value={action} placeholder="grant.*" />
              <Choice
                name="status"
                label={say('status')}
                value={status}
                choices={STATUSES.map((each) => [each, statusWord(each)])}
              />
              <TextFilter
                name="principalId"
                label={say('person')}
                value={principalId}
                placeholder="user_42"
              />
              <TextFilter name="agentId" label={say('agentId')} value={agentId} placeholder="ag_…" />
              <TextFilter name="actor" label={say('actor')} value={actor} placeholder="principal" />
              <TextFilter name="requestId" label={say('requestId')} value={requestId} />
              <DaysFilter since={since} until={until} />
              <Button
                className="quiet-button"
                onPress={() => change({ order: order === 'asc' ? undefined : 'asc' })}
              >
                {order === 'asc' ? say('newest') : say('oldest')}
              </Button>
              {isFiltered && <ClearFilters names={NAMES} />}
            </>
          }
          empty={<Empty title={say('none')}>{null}</Empty>}
        />
      )}
    </Page>
  );
}
