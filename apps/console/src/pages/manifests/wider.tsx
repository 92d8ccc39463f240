import { isWithin, parseToolScope, toolLevels } from '@behest/protocol/tool-scopes';
import { Link } from '@tanstack/react-router';
import { query } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { AgentName } from '../../parts/agents.tsx';
import { Loading, Problem } from '../../parts/states.tsx';
import type { ToolRow } from './check.ts';

const say = sayer('manifest');

interface WiderProps {
  readonly connector: string;
  /** The tools that become new or wider. */
  readonly tools: readonly ToolRow[];
}

const MODES = { off: 'pinOff', warn: 'pinWarn', enforce: 'pinEnforce' } as const;
const MOST_SHOWN = 10;

/** Who agreed to less than what the draft allows, and what that means to their grants. */
export function Wider({ connector, tools }: WiderProps) {
  const me = query.useQuery('get', '/v1/me');
  if (tools.length === 0) return <p>{say('narrow')}</p>;
  const mode = me.data?.manifestPinning;
  return (
    <section className="wider">
      <p>
        <strong>
          {say('widerText', { count: tools.length, tools: tools.map(({ name }) => name).join(', ') })}
        </strong>{' '}
        {mode && say(MODES[mode])}
      </p>
      {mode !== 'off' && <Concerned connector={connector} tools={tools} />}
    </section>
  );
}

/** Whether scopes reach a tool as it is saved or as it is in the draft. */
const reach = (scopes: readonly string[], connector: string, { name, tool, before }: ToolRow) =>
  scopes.some((text) => {
    const scope = parseToolScope(text);
    if (!scope || !['*', connector].includes(scope.connector)) return false;
    const levels = [tool, before ?? tool].map(({ permission = 'read' }) => toolLevels.indexOf(permission));
    return isWithin(scope.resource ?? '*', name) && toolLevels.indexOf(scope.level) >= Math.min(...levels);
  });

function Concerned({ connector, tools }: WiderProps) {
  const { data, error } = query.useQuery('get', '/v1/grants', {
    params: { query: { status: 'active', limit: 500 } },
  });
  if (error) return <Problem error={error} />;
  if (!data) return <Loading />;
  const concerned = data.grants.filter(
    ({ manifests, scopes }) =>
      manifests?.some((pin) => pin.connector === connector) &&
      tools.some((tool) => reach(scopes, connector, tool)),
  );
  if (concerned.length === 0) return <p className="aside">{say('nobody')}</p>;
  return (
    <>
      <p>{say('concerned', { count: concerned.length })}</p>
      <ul className="rows">
        {concerned.slice(0, MOST_SHOWN).map(({ grantId, agentId, principalId }) => (
          <li key={grantId}>
            <Link to="/grants/$grantId" params={{ grantId }}>
              <AgentName id={agentId} />
            </Link>
            <bdi>{principalId}</bdi>
          </li>
        ))}
      </ul>
    </>
  );
}
