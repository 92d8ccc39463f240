import { Link } from '@tanstack/react-router';
import { query, type Schemas } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { TextFilter, useKept } from '../../parts/filters.tsx';
import { Page } from '../../parts/page.tsx';
import { Empty, Loading, Problem } from '../../parts/states.tsx';
import { Stop } from '../../parts/stop.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { peopleRoute } from '../routes.ts';

const say = sayer('people');

type Person = Schemas['PrincipalPage']['principals'][number];

const columns: readonly Column<Person>[] = [
  { id: 'id', header: say('id'), cell: ({ principalId }) => <bdi>{principalId}</bdi>, isFixed: true },
  { id: 'holds', header: say('holds'), cell: ({ holds }) => holds.map((what) => say(what)).join(', ') },
  {
    id: 'stop',
    header: say('actions'),
    isFixed: true,
    cell: ({ principalId }) => (
      <Stop size="small" target={{ kind: 'person', id: principalId, name: principalId }} />
    ),
  },
];

export function People() {
  const { query: typed, cursor } = peopleRoute.useSearch();
  const list = useKept(
    query.useQuery('get', '/v1/principals', {
      params: { query: { limit: 50, ...(typed && { query: typed }), ...(cursor && { cursor }) } },
    }),
  );
  return (
    <Page title={say('title')} lead={say('lead')}>
      {list.error && <Problem error={list.error} retry={() => void list.refetch()} />}
      {list.isPending && <Loading />}
      {list.data && (
        <Table
          name="people"
          label={say('title')}
          rows={list.data.principals}
          columns={columns}
          rowId={({ principalId }) => principalId}
          link={({ principalId }) => ({ to: '/people/$principalId', params: { principalId } })}
          live={{ types: ['grant.*'], readAt: list.dataUpdatedAt, load: () => void list.refetch() }}
          paging={{ cursor, nextCursor: list.data.nextCursor }}
          filters={<TextFilter name="query" label={say('begins')} value={typed} placeholder="user_42" />}
          empty={
            <Empty title={typed === undefined ? say('none') : say('noneSo')}>
              <p>{say('noneText')}</p>
              {typed !== undefined && (
                <p>
                  <Link to="/people/$principalId" params={{ principalId: typed }}>
                    {say('open', { name: typed })}
                  </Link>
                </p>
              )}
            </Empty>
          }
        />
      )}
    </Page>
  );
}
