import { query, type Schemas } from '../../api/client.ts';
import { sayer, statusWord } from '../../messages/language.ts';
import { AgentName } from '../../parts/agents.tsx';
import { Code } from '../../parts/code.tsx';
import { Choice, ClearFilters, TextFilter, useKept } from '../../parts/filters.tsx';
import { Page } from '../../parts/page.tsx';
import { Empty, Loading, Problem } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Id, Status, When } from '../../parts/text.tsx';
import { decisionsRoute } from '../routes.ts';

const say = sayer('decisions');

type Decision = Schemas['Decision'];

const columns: readonly Column<Decision>[] = [
  {
    id: 'call',
    header: say('call'),
    isFixed: true,
    cell: ({ connector, tool }) => (
      <code>
        {connector}.{tool}
      </code>
    ),
  },
  { id: 'status', header: say('status'), cell: ({ status }) => <Status status={status} /> },
  {
    id: 'approvals',
    header: say('approvals'),
    cell: ({ approvals, quorum }) => say('approvalsOf', { count: approvals.length, quorum }),
  },
  { id: 'agent', header: say('agent'), cell: ({ agentId }) => <AgentName id={agentId} /> },
  { id: 'person', header: say('person'), cell: ({ principalId }) => <bdi>{principalId}</bdi> },
  { id: 'case', header: say('case'), isExtra: true, cell: ({ caseId }) => <bdi>{caseId}</bdi> },
  { id: 'asked', header: say('asked'), cell: ({ createdAt }) => <When at={createdAt} /> },
  { id: 'ends', header: say('ends'), cell: ({ expiresAt }) => <When at={expiresAt} /> },
  {
    id: 'id',
    header: say('id'),
    isExtra: true,
    cell: ({ decisionId }) => <Id id={decisionId} of={say('id')} />,
  },
];

const STATUSES = ['pending', 'approved', 'consumed', 'denied', 'cancelled', 'superseded', 'expired'] as const;

const EXAMPLE = '{"wipe_mail": {"permission": "delete", "requires_decision": true}}';

/** Calls that wait for people, and those that people decided. Nobody decides here: approvers have a page of their own. */
export function Decisions() {
  const { cursor, ...filters } = decisionsRoute.useSearch();
  const { status, agentId, grantId, caseId } = filters;
  const list = useKept(
    query.useQuery('get', '/v1/decisions', {
      params: { query: { ...filters, limit: 50, ...(cursor && { cursor }) } },
    }),
  );
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <Page title={say('title')} lead={say('lead')}>
      {list.error && <Problem error={list.error} retry={() => void list.refetch()} />}
      {list.isPending && <Loading />}
      {list.data && (
        <Table
          name="decisions"
          label={say('title')}
          rows={list.data.decisions}
          columns={columns}
          rowId={({ decisionId }) => decisionId}
          link={({ decisionId }) => ({ to: '/decisions/$decisionId', params: { decisionId } })}
          live={{
            types: ['decision.*'],
            about: { agentId, grantId },
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
              <TextFilter name="agentId" label={say('agentId')} value={agentId} placeholder="ag_…" />
              <TextFilter name="grantId" label={say('grantId')} value={grantId} placeholder="grnt_…" />
              <TextFilter name="caseId" label={say('case')} value={caseId} />
              {isFiltered && <ClearFilters names={['status', 'agentId', 'grantId', 'caseId']} />}
            </>
          }
          empty={
            isFiltered || cursor !== undefined ? (
              <Empty title={say('noneOfFilter')}>{null}</Empty>
            ) : (
              <Empty title={say('none')}>
                <p>{say('noneText')}</p>
                <Code text={EXAMPLE} label={say('example')} />
              </Empty>
            )
          }
        />
      )}
    </Page>
  );
}
