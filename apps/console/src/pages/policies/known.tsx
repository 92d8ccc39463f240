import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { Button } from 'react-aria-components';
import { query } from '../../api/client.ts';
import { ApiError } from '../../api/errors.ts';
import { sayer } from '../../messages/language.ts';
import { ShortId } from '../../parts/text.tsx';

const say = sayer('policy');
const AgentChoices = lazy(() => import('./agent-choices.tsx'));

const PAUSE_MS = 200;

/** Whether the service says that there is no such record, or could be none. */
const isNowhere = (error: unknown) => error instanceof ApiError && [400, 404].includes(error.status);

/** The agent of a policy. `isUnknown` once it is certain that no agent has the id. */
export function useAgentOf(agentId: unknown) {
  const id = useSettled(typeof agentId === 'string' ? agentId : '');
  const { data, error } = query.useQuery(
    'get',
    '/v1/agents/{id}',
    { params: { path: { id } } },
    { enabled: id !== '', retry: false, staleTime: 60_000 },
  );
  const isCurrent = id !== '' && id === agentId;
  return { agent: isCurrent ? data : undefined, isUnknown: isCurrent && isNowhere(error) };
}

interface AgentFieldProps {
  readonly value: string;
  readonly change: (value: string | undefined) => void;
  readonly faults: readonly string[];
}

/** An agent by its name, which is chosen from a search. */
export function AgentField({ value, change, faults }: AgentFieldProps) {
  const { agent, isUnknown } = useAgentOf(value);
  const opener = useRef<HTMLButtonElement>(null);
  const [isOpen, open] = useState(false);
  const own = isUnknown ? [...faults, say('noAgent')] : faults;
  return (
    <div className="agent-field">
      <span id="policy-agent">{say('agentId')}</span>
      <span className="actions">
        <Button
          ref={opener}
          className="button"
          aria-haspopup="dialog"
          aria-describedby="policy-agent-notes"
          onPress={() => open(true)}
        >
          {value === '' ? say('anyAgent') : (agent?.name ?? <ShortId id={value} />)}
          <span aria-hidden="true"> ▾</span>
        </Button>
        {isOpen && (
          <Suspense>
            <AgentChoices triggerRef={opener} close={() => open(false)} choose={change} />
          </Suspense>
        )}
        {value !== '' && (
          <Button className="quiet-button" onPress={() => change(undefined)}>
            {say('clearAgent')}
          </Button>
        )}
      </span>
      <div id="policy-agent-notes">
        {agent && (
          <p className="aside">
            <ShortId id={agent.agentId} />
          </p>
        )}
        {own.length > 0 && <p className="fault">{own.join(' ')}</p>}
      </div>
    </div>
  );
}

/** What was typed, once the typing pauses. */
export function useSettled(text: string): string {
  const [settled, settle] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => settle(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

/** The connectors that have a manifest, which the browser offers in a field. They are read once the field is used. */
export function Connectors({ id, isUsed }: { readonly id: string; readonly isUsed: boolean }) {
  const { data } = query.useQuery(
    'get',
    '/v1/manifests',
    { params: { query: { limit: 100 } } },
    { enabled: isUsed, staleTime: 60_000 },
  );
  return (
    <datalist id={id}>
      {data?.manifests.map(({ connector }) => (
        <option key={connector} value={connector} />
      ))}
    </datalist>
  );
}

/** @returns the tools of a connector; `null` where it has no manifest, undefined while that is not known */
export function useTools(connector: string): readonly string[] | null | undefined {
  const wanted = useSettled(connector);
  const { data, error } = query.useQuery(
    'get',
    '/v1/manifests/{connector}',
    { params: { path: { connector: wanted } } },
    { enabled: wanted !== '', retry: false, staleTime: 60_000 },
  );
  if (wanted === '' || wanted !== connector) return undefined;
  if (isNowhere(error)) return null;
  const { tools } = { ...data?.manifest };
  return tools === undefined ? undefined : Object.keys(Object(tools));
}
