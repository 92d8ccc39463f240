import { denialKeys } from '@behest/protocol/enforcement/sentences';
import { query, type Schemas } from '../../api/client.ts';
import type { operations } from '../../api/types.gen.ts';
import { sayer } from '../../messages/language.ts';
import { AgentName } from '../../parts/agents.tsx';
import { Snippets } from '../../parts/code.tsx';
import { Choice, ClearFilters, TextFilter, useKept } from '../../parts/filters.tsx';
import { Empty, Loading, Problem } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { When } from '../../parts/text.tsx';
import { denialsRoute } from '../routes.ts';
import { Groups } from './groups.tsx';
import { callOf, reasonOf, WEEK } from './words.ts';

const say = sayer('denials');

type Entry = Schemas['AuditEntry'];

type Reason = NonNullable<NonNullable<operations['audit.list']['parameters']['query']>['denial']>;
// The description names the same list.
const REASONS = [...denialKeys].sort() as readonly Reason[];

const columns: readonly Column<Entry>[] = [
  { id: 'call', header: say('call'), cell: (entry) => <code>{callOf(entry)}</code>, isFixed: true },
  { id: 'reason', header: say('reason'), cell: (entry) => <code>{reasonOf(entry)}</code>, isFixed: true },
  {
    id: 'agent',
    header: say('agent'),
    cell: ({ agentId }) => agentId !== null && <AgentName id={agentId} />,
  },
  { id: 'person', header: say('person'), cell: ({ principalId }) => <bdi>{principalId}</bdi> },
  { id: 'at', header: say('at'), cell: ({ timestamp }) => <When at={timestamp} /> },
];

/** The calls that were denied, by the check that did and its reason. */
export function DeniedCalls() {
  const { agentId, principalId, cursor, ...search } = denialsRoute.useSearch();
  const denial = REASONS.find((reason) => reason === search.denial);
  const filters = {
    ...(denial && { denial }),
    ...(agentId && { agentId }),
    ...(principalId && { principalId }),
  };
  const groups = query.useQuery('get', '/v1/insights/denials', { params: { query: WEEK } });
  const list = useKept(
    query.useQuery('get', '/v1/audit/entries', {
      params: {
        query: {
          ...{ action: 'tool.enforce', status: 'blocked', order: 'desc', limit: 50 },
          ...filters,
          ...(cursor && { cursor }),
        },
      },
    }),
  );
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <>
      {groups.error && <Problem error={groups.error} retry={() => void groups.refetch()} />}
      {groups.data && (
        <Groups
          title={say('byReason')}
          groups={groups.data.groups.map(({ reason, count }) => {
            const [name = '', note] = reason.split('/');
            const chooses = { denial: reason };
            return { chooses, name, ...(note && { note }), count, isChosen: denial === reason };
          })}
        />
      )}
      {list.error && <Problem error={list.error} retry={() => void list.refetch()} />}
      {list.isPending && <Loading />}
      {list.data && (
        <Table
          name="denials"
          label={say('calls')}
          rows={list.data.entries}
          columns={columns}
          rowId={({ entryId }) => entryId}
          link={({ entryId }) => ({ to: '/denials/$entryId', params: { entryId } })}
          paging={{ cursor, nextCursor: list.data.nextCursor }}
          filters={
            <>
              <Choice
                name="denial"
                label={say('reason')}
                value={denial}
                choices={REASONS.map((reason) => [reason, reason])}
              />
              <TextFilter
                name="principalId"
                label={say('person')}
                value={principalId}
                placeholder="user_42"
              />
              <TextFilter name="agentId" label={say('agentId')} value={agentId} placeholder="ag_…" />
              {isFiltered && <ClearFilters names={['denial', 'principalId', 'agentId']} />}
            </>
          }
          empty={isFiltered ? <Empty title={say('noneOfFilter')}>{null}</Empty> : <NoDenials />}
        />
      )}
    </>
  );
}

const NoDenials = () => (
  <Empty title={say('none')}>
    <p>{say('noneText')}</p>
    <Snippets label={say('ask')} snippets={snippets(location.origin)} />
  </Empty>
);

const snippets = (origin: string) => ({
  curl: `curl ${origin}/v1/enforce \\
  -H "authorization: Bearer $BEHEST_API_KEY" \\
  -H 'content-type: application/json' \\
  -d '{"grantToken":"<grant token>","connector":"crm","tool":"lookup","arguments":{}}'`,
  CLI: 'behest enforce --grant-token-file token.txt --connector crm --tool lookup',
});
