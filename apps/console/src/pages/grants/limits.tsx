import { useQueries } from '@tanstack/react-query';
import { query, type Schemas } from '../../api/client.ts';
import { money, number, sayer } from '../../messages/language.ts';
import { Bar } from '../../parts/bar.tsx';
import { Panel } from '../../parts/page.tsx';
import { Loading, Problem } from '../../parts/states.tsx';
import { When } from '../../parts/text.tsx';

const say = sayer('grant');

type Grant = Schemas['Grant'];

/** The limits whose meters are read at once, so that a page asks for few. */
const MOST = 5;

/** How much of the grant's money and of its caps is used. */
export function Limits({ grant }: { readonly grant: Grant }) {
  const capped = cappedTools(grant);
  const { budget } = grant;
  const spent = budget && Number(budget.amount) - Number(budget.remaining);
  return (
    <Panel title={say('limits')}>
      {budget && spent !== undefined && (
        <Bar
          label={say('budget')}
          used={spent}
          limit={Number(budget.amount)}
          value={say('spentOf', {
            used: money(String(spent), budget.currency),
            limit: money(budget.amount, budget.currency),
          })}
        />
      )}
      {capped.length > 0 && <Caps grantId={grant.grantId} tools={capped.slice(0, MOST)} />}
      {capped.length > MOST && <p className="aside">{say('moreCaps', { count: capped.length - MOST })}</p>}
      {!budget && capped.length === 0 && <p className="aside">{say('noLimits')}</p>}
    </Panel>
  );
}

interface Capped {
  readonly connector: string;
  readonly tool: string;
  /** The most calls, by window. */
  readonly caps: Readonly<Record<string, unknown>>;
}

/** The tools for which the grant has a cap of its own. */
function cappedTools({ authorizationDetails = [] }: Grant): Capped[] {
  return authorizationDetails.flatMap((entry) => {
    const { connector, caps } = Object(entry);
    if (typeof connector !== 'string' || typeof caps !== 'object' || caps === null) return [];
    return Object.entries(caps)
      .filter(([tool]) => tool !== 'cost_units')
      .map(([tool, each]) => ({ connector, tool, caps: Object(each) }));
  });
}

function Caps({ grantId, tools }: { readonly grantId: string; readonly tools: readonly Capped[] }) {
  const reads = useQueries({
    queries: tools.map(({ connector, tool }) =>
      query.queryOptions('get', '/v1/enforce/usage', { params: { query: { grantId, connector, tool } } }),
    ),
  });
  return reads.map(({ data, error }, at) => {
    const key = `${tools[at]?.connector}:${tools[at]?.tool}`;
    if (error) return <Problem key={key} error={error} title={say('noUsage', { tool: key })} />;
    if (!data) return <Loading key={key} />;
    if (data.counters.length === 0) return <Uncounted key={key} capped={tools[at]} />;
    return data.counters.map(({ scope, kind, window, limit, used, retryAt }) => (
      <Bar
        key={`${key} ${scope} ${kind} ${window}`}
        label={
          <>
            <code>{key}</code> {say(window)}
          </>
        }
        used={used}
        limit={limit}
        value={say('usedOf', { used: number(used), limit: number(limit) })}
        note={
          retryAt && (
            <>
              {say('again')} <When at={retryAt} />
            </>
          )
        }
      />
    ));
  });
}

/** The meter counts calls of tools that a manifest names. Without one, the cap is what the grant says. */
function Uncounted({ capped }: { readonly capped: Capped | undefined }) {
  if (!capped) return null;
  const { connector, tool, caps } = capped;
  return (['per_hour', 'per_day', 'per_case'] as const)
    .filter((window) => caps[window] !== undefined)
    .map((window) => (
      <p key={window} className="meter-words">
        <code>{`${connector}:${tool}`}</code>
        <span className="aside">
          {say('capAlone', { limit: Number(caps[window]), window: say(window), connector })}
        </span>
      </p>
    ));
}
