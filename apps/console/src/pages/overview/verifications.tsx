import { query } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { Chart } from '../../parts/chart.tsx';
import { Panel } from '../../parts/page.tsx';
import { DAYS, HISTORY } from '../../queries.ts';
import { Missing } from './card.tsx';

const say = sayer('overview');

/** What was asked of the service on each of the last 30 days. */
export default function Verifications() {
  const { data, error } = query.useQuery('get', '/v1/usage/history', HISTORY, {
    select: ({ entries }) => seriesOf(entries),
  });
  return (
    <Panel title={say('month')}>
      <Missing error={error} isPending={!data} />
      {data && <Chart label={say('month')} {...data} />}
    </Panel>
  );
}

interface Day {
  readonly date: string;
  readonly verifications: number;
  readonly tokenExchanges: number;
  readonly authorizations: number;
}

/** The dates, oldest first, by the calendar of UTC. */
const lastDays = () =>
  Array.from({ length: DAYS }, (_, at) =>
    new Date(Date.now() - (DAYS - 1 - at) * 86_400_000).toISOString().slice(0, 10),
  );

/** The service lists the days on which something was asked of it. */
function seriesOf(entries: readonly Day[]) {
  const byDate = new Map(entries.map((entry) => [entry.date, entry]));
  const days = lastDays();
  const valuesOf = (name: 'verifications' | 'tokenExchanges' | 'authorizations') =>
    days.map((date) => byDate.get(date)?.[name] ?? 0);
  return {
    days,
    series: [
      { name: say('verifications'), values: valuesOf('verifications') },
      { name: say('tokens'), values: valuesOf('tokenExchanges') },
      { name: say('requests'), values: valuesOf('authorizations') },
    ],
  };
}
