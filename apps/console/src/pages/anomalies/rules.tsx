import { api, query, type Schemas } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { Act } from '../../parts/act.tsx';
import { Panel } from '../../parts/page.tsx';
import { Loading, Problem } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Status } from '../../parts/text.tsx';

const say = sayer('anomalies');

type Rule = Schemas['AnomalyRule'];

const columns: readonly Column<Rule>[] = [
  { id: 'name', header: say('rule'), isFixed: true, cell: ({ name }) => <bdi>{name}</bdi> },
  { id: 'severity', header: say('severity'), cell: ({ severity }) => <Status status={severity} /> },
  { id: 'about', header: say('description'), cell: ({ description }) => <bdi>{description}</bdi> },
  { id: 'response', header: say('response'), cell: ({ response }) => say(`response-${response}`) },
  {
    id: 'status',
    header: say('status'),
    cell: ({ enabled }) => <Status status={enabled ? 'active' : 'disabled'} />,
  },
  { id: 'acts', header: say('actions'), isFixed: true, cell: (rule) => <Switch rule={rule} /> },
];

/** What is looked for, and what follows. */
export function Rules() {
  const { data, error, refetch } = query.useQuery('get', '/v1/anomaly/rules');
  return (
    <Panel title={say('rules')}>
      <p className="aside">{say('rulesText')}</p>
      {error && <Problem error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data && (
        <Table
          name="rules"
          label={say('rules')}
          rows={data.rules}
          columns={columns}
          rowId={({ ruleId }) => ruleId}
          empty={<p className="aside">{say('noRule')}</p>}
        />
      )}
    </Panel>
  );
}

function Switch({ rule: { ruleId, name, enabled } }: { readonly rule: Rule }) {
  const params = { path: { ruleId } };
  return (
    <Act
      text={say(enabled ? 'switchOff' : 'switchOn')}
      label={say(enabled ? 'switchOffOne' : 'switchOnOne', { name })}
      title={say(enabled ? 'switchOffOne' : 'switchOnOne', { name })}
      needs="configure"
      isHarmless={!enabled}
      run={() => api.PATCH('/v1/anomaly/rules/{ruleId}', { params, body: { enabled: !enabled } })}
    >
      <p>{say(enabled ? 'switchOffText' : 'switchOnText')}</p>
    </Act>
  );
}
