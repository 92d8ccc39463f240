import { query } from '../api/client.ts';
import { sayer } from '../messages/language.ts';
import { Panel } from './page.tsx';
import { Loading, Problem } from './states.tsx';
import { Status, When } from './text.tsx';

const say = sayer('activity');

interface ActivityProps {
  readonly title: string;
  readonly filter: { readonly agentId?: string; readonly grantId?: string; readonly principalId?: string };
}

/** The newest entries of the audit chain about something. */
export function Activity({ title, filter }: ActivityProps) {
  const { data, error } = query.useQuery('get', '/v1/audit/entries', {
    params: { query: { ...filter, order: 'desc', limit: 10 } },
  });
  return (
    <Panel title={title}>
      {error && <Problem error={error} />}
      {!data && !error && <Loading />}
      {data?.entries.length === 0 && <p className="aside">{say('none')}</p>}
      <ul className="rows even">
        {data?.entries.map(({ entryId, action, status, timestamp, principalId }) => (
          <li key={entryId}>
            <code>{action}</code>
            <Status status={status} />
            <bdi>{principalId}</bdi>
            <When at={timestamp} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}
