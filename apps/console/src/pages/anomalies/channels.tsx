import { api, query, type Schemas } from '../../api/client.ts';
import { sayer, statusWord } from '../../messages/language.ts';
import { Act } from '../../parts/act.tsx';
import { Snippets } from '../../parts/code.tsx';
import { Panel } from '../../parts/page.tsx';
import { Loading, Problem } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Status } from '../../parts/text.tsx';

const say = sayer('anomalies');

type Channel = Schemas['AnomalyChannel'];

const columns: readonly Column<Channel>[] = [
  { id: 'name', header: say('channel'), isFixed: true, cell: ({ name }) => <bdi>{name}</bdi> },
  { id: 'kind', header: say('kind'), cell: ({ type }) => say(`kind-${type}`) },
  {
    id: 'severities',
    header: say('severity'),
    cell: ({ severities }) => severities.map((each) => statusWord(each)).join(', '),
  },
  {
    id: 'status',
    header: say('status'),
    cell: ({ enabled, unconfirmed = [] }) =>
      unconfirmed.length > 0 ? (
        <span className="aside">{say('unconfirmed', { count: unconfirmed.length })}</span>
      ) : (
        <Status status={enabled ? 'active' : 'disabled'} />
      ),
  },
  { id: 'acts', header: say('actions'), isFixed: true, cell: (channel) => <Acts channel={channel} /> },
];

/** The channels to which alerts go. */
export function Channels() {
  const { data, error, refetch } = query.useQuery('get', '/v1/anomaly/channels');
  return (
    <Panel title={say('channels')}>
      {error && <Problem error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data && (
        <Table
          name="channels"
          label={say('channels')}
          rows={data.channels}
          columns={columns}
          rowId={({ id }) => id}
          empty={
            <>
              <p>{say('noChannel')}</p>
              <Snippets label={say('makeChannel')} snippets={snippets(location.origin)} />
            </>
          }
        />
      )}
    </Panel>
  );
}

function Acts({ channel: { id, name } }: { readonly channel: Channel }) {
  const params = { path: { id } };
  return (
    <span className="actions">
      <Act
        text={say('test')}
        label={say('testOne', { name })}
        title={say('testOne', { name })}
        needs="operate"
        isHarmless
        run={() => api.POST('/v1/anomaly/channels/{id}/test', { params, body: {} })}
      >
        <p>{say('testText')}</p>
      </Act>
      <Act
        text={say('remove')}
        label={say('removeOne', { name })}
        title={say('removeOne', { name })}
        needs="configure"
        run={() => api.DELETE('/v1/anomaly/channels/{id}', { params })}
      >
        <p>{say('removeText')}</p>
      </Act>
    </span>
  );
}

const snippets = (origin: string) => ({
  curl: `curl ${origin}/v1/anomaly/channels \\
  -H "authorization: Bearer $BEHEST_API_KEY" \\
  -H 'content-type: application/json' \\
  -d '{"type":"email","name":"Security","config":{"to":["security@example.com"]},"severities":["high","critical"]}'`,
});
