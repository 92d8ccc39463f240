import { lazy, Suspense } from 'react';
import { query } from '../../api/client.ts';
import { number, sayer } from '../../messages/language.ts';
import { Bar } from '../../parts/bar.tsx';
import { Page, Panel } from '../../parts/page.tsx';
import { Loading, Problem } from '../../parts/states.tsx';
import { usageRoute } from '../routes.ts';

const say = sayer('usage');
const Budgets = lazy(() => import('./budgets.tsx'));
const Month = lazy(() => import('../overview/verifications.tsx'));

/** What the account used of its plan, of its budgets, and of each day. */
export function Usage() {
  const { by } = usageRoute.useSearch();
  const { data, error, refetch } = query.useQuery('get', '/v1/usage');
  return (
    <Page title={say('title')} lead={say('lead')}>
      {error && <Problem error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data && (
        <Panel title={say('plan', { plan: data.plan })}>
          <Used
            name={say('tokenExchanges')}
            used={data.month.tokenExchanges}
            limit={data.limits.tokenExchangesPerMonth}
          />
          <Used
            name={say('authorizations')}
            used={data.month.authorizations}
            limit={data.limits.authorizationsPerMonth}
          />
          <Used name={say('verifications')} used={data.month.verifications} limit={null} />
          <Used name={say('requests')} used={data.month.totalRequests} limit={null} />
        </Panel>
      )}
      <Suspense fallback={<Loading />}>
        <Budgets by={by} />
      </Suspense>
      <Suspense fallback={<Loading />}>
        <Month />
      </Suspense>
    </Page>
  );
}

interface UsedProps {
  readonly name: string;
  readonly used: number;
  /** Null where the plan has none. */
  readonly limit: number | null;
}

const Used = ({ name, used, limit }: UsedProps) =>
  limit === null ? (
    <p className="meter-words">
      <span>{name}</span>
      <span>{say('unlimited', { used: number(used) })}</span>
    </p>
  ) : (
    <Bar
      label={name}
      used={used}
      limit={limit}
      value={say('usedOf', { used: number(used), limit: number(limit) })}
    />
  );
