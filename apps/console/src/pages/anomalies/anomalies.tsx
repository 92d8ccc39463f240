import { query, type Schemas } from '../../api/client.ts';
import { number, sayer, statusWord } from '../../messages/language.ts';
import { AgentName } from '../../parts/agents.tsx';
import { Choice, ClearFilters, TextFilter, useKept } from '../../parts/filters.tsx';
import { Page } from '../../parts/page.tsx';
import { Empty, Loading, Problem } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Id, Status, When } from '../../parts/text.tsx';
import { anomaliesRoute } from '../routes.ts';
import { AlertActs } from './alert-acts.tsx';
import { Channels } from './channels.tsx';
import { Rules } from './rules.tsx';

const say = sayer('anomalies');

type Alert = Schemas['Alert'];

const columns: readonly Column<Alert>[] = [
  { id: 'rule', header: say('rule'), isFixed: true, cell: ({ ruleName }) => <bdi>{ruleName}</bdi> },
  { id: 'severity', header: say('severity'), cell: ({ severity }) => <Status status={severity} /> },
  { id: 'status', header: say('status'), cell: ({ status }) => <Status status={status} /> },
  {
    id: 'agent',
    header: say('agent'),
    cell: ({ agentId }) => agentId !== null && <AgentName id={agentId} />,
  },
  { id: 'person', header: say('person'), cell: ({ principalId }) => <bdi>{principalId}</bdi> },
  { id: 'times', header: say('times'), isNumber: true, cell: ({ occurrences }) => number(occurrences) },
  { id: 'seen', header: say('seen'), cell: ({ lastSeenAt }) => <When at={lastSeenAt} /> },
  { id: 'id', header: say('id'), isExtra: true, cell: ({ alertId }) => <Id id={alertId} of={say('id')} /> },
  { id: 'acts', header: say('actions'), isFixed: true, cell: (alert) => <AlertActs alert={alert} /> },
];

const STATUSES = ['open', 'acknowledged', 'resolved'] as const;
const SEVERITIES = ['critical', 'high', 'medium', 'low'] as const;

/** The alerts, newest first, then the rules that raise them, and the channels that they go to. */
export function Anomalies() {
  const { cursor, ...filters } = anomaliesRoute.useSearch();
  const { status, severity, agentId } = filters;
  const list = useKept(
    query.useQuery('get', '/v1/anomaly/alerts', {
      params: { query: { ...filters, limit: 50, ...(cursor && { cursor }) } },
    }),
  );
  // The same queries as those of the parts below, which nothing that loads above them may push down.
  const below = [query.useQuery('get', '/v1/anomaly/rules'), query.useQuery('get', '/v1/anomaly/channels')];
  const isWaiting = list.isPending || below.some(({ isPending }) => isPending);
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <Page title={say('title')} lead={say('lead')}>
      {list.error && <Problem error={list.error} retry={() => void list.refetch()} />}
      {isWaiting && <Loading />}
      {list.data && !isWaiting && (
        <Table
          name="anomalies"
          label={say('title')}
          rows={list.data.data}
          columns={columns}
          rowId={({ alertId }) => alertId}
          link={({ alertId }) => ({ to: '/anomalies/$alertId', params: { alertId } })}
          live={{
            types: ['anomaly.*'],
            about: { agentId },
            readAt: list.dataUpdatedAt,
            load: () => void list.refetch(),
          }}
          paging={{ cursor, nextCursor: list.data.nextCursor }}
          filters={
            <>
              <Choice
                name="status"
                label={say('status')}
                value={status}
                choices={STATUSES.map((each) => [each, statusWord(each)])}
              />
              <Choice
                name="severity"
                label={say('severity')}
                value={severity}
                choices={SEVERITIES.map((each) => [each, statusWord(each)])}
              />
              <TextFilter name="agentId" label={say('agentId')} value={agentId} placeholder="ag_…" />
              {isFiltered && <ClearFilters names={['status', 'severity', 'agentId']} />}
            </>
          }
          empty={
            <Empty title={say(isFiltered ? 'noneOfFilter' : 'none')}>
              {isFiltered ? null : <p>{say('noneText')}</p>}
            </Empty>
          }
        />
      )}
      {!isWaiting && <Rules />}
      {!isWaiting && <Channels />}
    </Page>
  );
}
