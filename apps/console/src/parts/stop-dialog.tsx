import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from 'react-aria-components';
import { api } from '../api/client.ts';
import type { operations } from '../api/types.gen.ts';
import { exactTime, number, sayer } from '../messages/language.ts';
import { Confirm } from './confirm.tsx';
import { Loading, Problem } from './states.tsx';
import type { Target } from './stop.tsx';

const say = sayer('stop');

type RevocationStatement = operations['grants.revocation']['responses']['200']['content']['application/json'];

export default function StopDialog({
  target,
  close,
}: {
  readonly target: Target;
  readonly close: () => void;
}) {
  const queries = useQueryClient();
  const [undone, setUndone] = useState<{ readonly error?: unknown }>();
  const [proof, setProof] = useState<string>();
  const way = ways[target.kind](target);
  /** What every list and number shows has changed. The session has not. */
  const refresh = () => queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] === 'get' });
  const undo = async () => {
    try {
      await way.undo?.();
      await refresh();
      setUndone({});
    } catch (error) {
      setUndone({ error });
    }
  };
  const isUndone = undone !== undefined && undone.error === undefined;
  return (
    <Confirm
      isOpen
      close={close}
      title={way.title}
      action={way.action}
      run={async () => {
        setProof(proofIn(await way.run()));
        await refresh();
      }}
      done={{
        title: isUndone ? say('undoneTitle') : way.doneTitle,
        body: (
          <div className="stopped">
            <p>{isUndone ? say('undone') : way.done}</p>
            {proof !== undefined && <p>{proof}</p>}
            {undone?.error !== undefined && <Problem error={undone.error} />}
            {way.undo ? (
              !isUndone && (
                <Button className="button" onPress={() => void undo()}>
                  {way.undoAction}
                </Button>
              )
            ) : (
              <p className="aside">{say('final')}</p>
            )}
          </div>
        ),
      }}
    >
      <Falls target={target} />
      <p className="aside">{way.undo ? say('canUndo') : say('cannotUndo')}</p>
    </Confirm>
  );
}

interface Way {
  readonly title: string;
  readonly action: string;
  readonly run: () => Promise<unknown>;
  readonly doneTitle: string;
  readonly done: string;
  readonly undo?: () => Promise<unknown>;
  readonly undoAction?: string;
}

const idOf = (target: Target) => (target.kind === 'all' ? '' : target.id);
const nameOf = (target: Target) => (target.kind === 'all' ? '' : target.name);

const ways: Readonly<Record<Target['kind'], (target: Target) => Way>> = {
  agent: (target) => {
    const params = { path: { id: idOf(target) } };
    const name = nameOf(target);
    return {
      title: say('agentTitle', { name }),
      action: say('agentAction'),
      run: () => api.PATCH('/v1/agents/{id}', { params, body: { status: 'suspended' } }),
      doneTitle: say('agentDoneTitle', { name }),
      done: say('agentDone'),
      undo: () => api.PATCH('/v1/agents/{id}', { params, body: { status: 'active' } }),
      undoAction: say('agentUndo'),
    };
  },
  grant: (target) => ({
    title: say('grantTitle'),
    action: say('grantAction'),
    run: () =>
      api.DELETE('/v1/grants/{id}', {
        params: { path: { id: idOf(target) }, query: { wait: 'confirmed' } },
      }),
    doneTitle: say('grantDoneTitle'),
    done: say('grantDone'),
  }),
  person: (target) => ({
    title: say('personTitle', { name: nameOf(target) }),
    action: say('personAction'),
    run: () => endAllOf(idOf(target)),
    doneTitle: say('personDoneTitle', { name: nameOf(target) }),
    done: say('personDone'),
  }),
  all: () => ({
    title: say('allTitle'),
    action: say('allAction'),
    run: () => api.POST('/v1/me/stop', { body: { reason: say('allReason') } }),
    doneTitle: say('allDoneTitle'),
    done: say('allDone'),
    undo: () => api.POST('/v1/me/resume', { body: {} }),
    undoAction: say('allUndo'),
  }),
};

/** Says which programs have confirmed that they accept the grant no more, where any do. */
function proofIn(answer: unknown): string | undefined {
  const { verifiers = [] }: Partial<RevocationStatement> = Object(Object(answer).data);
  if (verifiers.length === 0) return undefined;
  const confirmed = verifiers.filter(({ state }) => state === 'confirmed').length;
  const late = verifiers.filter(({ state }) => state === 'unconfirmed');
  const said = say('confirmedBy', { confirmed, count: verifiers.length });
  if (late.length === 0) return said;
  const until =
    late
      .map(({ at }) => at)
      .toSorted()
      .at(-1) ?? '';
  const names = [...new Set(late.map(({ name }) => name))].join(', ');
  return `${said} ${say('unconfirmed', { names, until: exactTime(until) })}`;
}

/** Grants, requests and sessions of the person end together; what the person keeps here stays. */
const endAllOf = (principalId: string) =>
  api.POST('/v1/principals/{principalId}/offboard', {
    params: { path: { principalId } },
    body: { keepCredentials: true },
  });

/** The numbers that say something: an agent is always one agent. */
const SHOWN = {
  agent: ['grants', 'people', 'calls'],
  grant: ['grants', 'agents', 'calls'],
  person: ['grants', 'agents', 'calls'],
  all: ['grants', 'agents', 'people', 'calls'],
} as const;

/** What will fall: counted by the service, up to a number that is enough to decide by. */
function Falls({ target }: { readonly target: Target }) {
  const { data, error } = useQuery({
    queryKey: ['falls', target],
    queryFn: () => countFalls(target),
    gcTime: 0,
  });
  if (error) return <Problem error={error} title={say('noCount')} />;
  if (!data) return <Loading label={say('counting')} />;
  const more = data.isMore ? '+' : '';
  return (
    <>
      <ul className="falls">
        {SHOWN[target.kind].map((what) => (
          <li key={what}>
            <strong>
              {number(data[what])}
              {what !== 'calls' && more}
            </strong>{' '}
            {say(what, { count: data[what] })}
          </li>
        ))}
      </ul>
      {data.goOn > 0 && <p className="warning">{say('goOn', { count: data.goOn })}</p>}
    </>
  );
}

async function countFalls(target: Target) {
  if (target.kind === 'agent') return countOwn(target.id);
  const query =
    target.kind === 'all'
      ? {}
      : target.kind === 'person'
        ? { principalId: target.id }
        : { grantId: target.id };
  const { data } = await api.GET('/v1/stops/preview', { params: { query } });
  const { grants = 0, agents = 0, principals = 0, calls = 0, truncated = false } = data ?? {};
  return { grants, agents, people: principals, calls, goOn: 0, isMore: truncated };
}

const MOST = 500;

/** A stopped agent keeps its grants, and others keep what was delegated to them. */
async function countOwn(agentId: string) {
  const [{ data }, tree] = await Promise.all([
    api.GET('/v1/grants', { params: { query: { agentId, status: 'active', limit: MOST } } }),
    api.GET('/v1/stops/preview', { params: { query: { agentId } } }),
  ]);
  const grants = data?.grants ?? [];
  const people = new Set(grants.map(({ principalId }) => principalId)).size;
  const goOn = Math.max(0, (tree.data?.grants ?? 0) - grants.length);
  const calls = tree.data?.calls ?? 0;
  return { grants: grants.length, agents: 1, people, calls, goOn, isMore: data?.nextCursor != null };
}
