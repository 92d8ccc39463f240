import { query } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { useActorNames } from '../../parts/agents.tsx';
import { Page, Panel } from '../../parts/page.tsx';
import { Loading, Problem } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Id, When } from '../../parts/text.tsx';
import { changesRoute } from '../routes.ts';
import { type Change, OpenChange } from './open-change.tsx';
import { Rule } from './rule.tsx';

const say = sayer('changes');

const columns: readonly Column<Change>[] = [
  { id: 'about', header: say('about'), isFixed: true, cell: ({ about }) => <bdi>{about}</bdi> },
  { id: 'status', header: say('status'), cell: ({ status }) => say(`st-${status}`) },
  { id: 'by', header: say('by'), cell: ({ proposedBy }) => <Name actor={proposedBy} /> },
  { id: 'agreed', header: say('agreed'), cell: ({ approvedBy }) => <Names actors={approvedBy} /> },
  { id: 'asked', header: say('asked'), cell: ({ createdAt }) => <When at={createdAt} /> },
  { id: 'id', header: 'ID', cell: ({ changeId }) => <Id id={changeId} of={say('about')} /> },
];

/** What waits for a second member, each with its difference, and what became of the others. */
export function Changes() {
  const { cursor } = changesRoute.useSearch();
  const list = query.useQuery('get', '/v1/changes', {
    params: { query: { limit: 50, ...(cursor && { cursor }) } },
  });
  const changes = list.data?.changes ?? [];
  const open = changes.filter(({ status }) => status === 'open');
  return (
    <Page title={say('title')} lead={say('lead')}>
      <Rule />
      {list.error && <Problem error={list.error} retry={() => void list.refetch()} />}
      {list.isPending && <Loading />}
      {list.data && open.length === 0 && <p className="aside">{say('none')}</p>}
      {open.map((change) => (
        <OpenChange key={change.changeId} change={change} />
      ))}
      {list.data && (
        <Panel title={say('decided')}>
          <Table
            name="changes"
            label={say('decided')}
            rows={changes.filter(({ status }) => status !== 'open')}
            columns={columns}
            rowId={({ changeId }) => changeId}
            paging={{ cursor, nextCursor: list.data.nextCursor }}
            empty={<p className="aside">{say('noneDecided')}</p>}
          />
        </Panel>
      )}
    </Page>
  );
}

const Name = ({ actor }: { readonly actor: string }) => <bdi>{useActorNames()(actor)}</bdi>;

function Names({ actors }: { readonly actors: readonly string[] }) {
  const nameOf = useActorNames();
  return <bdi>{actors.map(nameOf).join(', ') || say('nobody')}</bdi>;
}
