import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { end } from '../harness/servers.ts';

export interface Token {
  readonly grantId: string;
  readonly grantToken: string;
}

/** What a process of verifiers is told at its start. */
export interface Setup {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly developerId: string;
  readonly names: readonly string[];
  /** Whether connections break at random, and answers come late. */
  readonly isCut: boolean;
  /** Between fifty calls of one verifier. */
  readonly pauseMs: number;
}

/** What one verifier did. Times are microseconds of a clock that the processes of a machine share. */
export interface Report {
  readonly name: string;
  calls: number;
  asked: number;
  /** Of them, those whose answer came after a confirmation that was sent after the question. */
  overtaken: number;
  cuts: number;
  /** When it last accepted each grant. */
  readonly accepted: Record<string, number>;
  /** When it sent each confirmation. */
  readonly confirmed: { readonly verifierId: string; readonly seq: number; readonly at: number }[];
}

interface Revocation {
  readonly grantId: string;
  readonly doneAt: number;
  readonly milliseconds: number;
  readonly complete: boolean;
  readonly position: { readonly seq: number };
  readonly verifiers: readonly { readonly verifierId: string; readonly state: string }[];
}

export interface Outcome {
  readonly calls: number;
  /** Of them, those that asked the service. */
  readonly asked: number;
  /** Of them, those that a confirmation has overtaken. */
  readonly overtaken: number;
  readonly cuts: number;
  /** How long each revocation took until its statement came, in milliseconds, ascending. */
  readonly milliseconds: readonly number[];
  /** By state, over all statements. */
  readonly states: Readonly<Record<string, number>>;
  readonly incomplete: number;
  /** Acceptances of a grant after the verifier had sent its confirmation, or after the statement had come. */
  readonly broken: readonly string[];
}

export interface Run extends Omit<Setup, 'names'> {
  readonly tokens: readonly Token[];
  /** How many verifiers each process has. */
  readonly processes: readonly number[];
  /** Between the end of a revocation and the next. */
  readonly everyMs: number;
  readonly revoke: (grantId: string) => Promise<Omit<Revocation, 'grantId' | 'doneAt' | 'milliseconds'>>;
}

/** Tokens that verifiers call with at one time: some revoked already, one that is being revoked, some still good. */
const WINDOW = 8;
/** Every other grant is new to the verifiers so long before its revocation, in milliseconds: their questions are on the way. */
const NEW_FOR = 50;

/** Revokes one grant after another while verifiers in several processes go on accepting what they may. */
export async function revokeUnderLoad(run: Run): Promise<Outcome> {
  const { tokens, processes, everyMs, revoke, ...setup } = run;
  const now = () => Number(process.hrtime.bigint() / 1000n);
  const children = processes.map((count, each) => {
    const names = Array.from({ length: count }, (_, one) => `process ${each + 1} verifier ${one + 1}`);
    return fork(join(import.meta.dirname, 'verifiers.ts'), [JSON.stringify({ ...setup, names })], {
      execArgv: [],
    });
  });
  const tell = (message: object) => {
    for (const child of children) child.send(message);
  };
  try {
    const revocations: Revocation[] = [];
    tell({ tokens: tokens.slice(0, 1) });
    // Each verifier has a lease, which it asks for at its first call.
    if (tokens.length > 0) await Promise.all(children.map((child) => once(child, 'message')));
    await delay(1_000); // streams open
    for (const [at, { grantId }] of tokens.entries()) {
      const current = tokens.slice(Math.max(0, at - WINDOW / 2), at + WINDOW / 2);
      const isNew = setup.isCut && at % 2 === 1;
      tell({ tokens: isNew ? current.filter((each) => each.grantId !== grantId) : current });
      await delay(everyMs);
      if (isNew) {
        tell({ tokens: tokens.slice(at, at + 1) });
        await delay(NEW_FOR);
      }
      const began = performance.now();
      const { complete, position, verifiers } = await revoke(grantId);
      const milliseconds = performance.now() - began;
      revocations.push({ grantId, doneAt: now(), milliseconds, complete, position, verifiers });
    }
    await delay(1_000); // whoever accepts too late does so now
    const reports = (await Promise.all(children.map(stop))).flat();
    return outcomeOf(revocations, reports);
  } finally {
    await Promise.all(children.map((child) => end(child, 'SIGKILL')));
  }
}

async function stop(child: ChildProcess): Promise<Report[]> {
  child.send({ stop: true });
  const [reports] = await once(child, 'message');
  return reports;
}

function outcomeOf(revocations: readonly Revocation[], reports: readonly Report[]): Outcome {
  const sum = (count: (report: Report) => number) => reports.reduce((all, each) => all + count(each), 0);
  const states: Record<string, number> = {};
  for (const { verifiers } of revocations)
    for (const { state } of verifiers) states[state] = (states[state] ?? 0) + 1;
  const broken = revocations.flatMap(({ grantId, doneAt, complete, position, verifiers }) => {
    const confirmed = new Set(
      verifiers.filter(({ state }) => state === 'confirmed').map(({ verifierId }) => verifierId),
    );
    return reports.flatMap(({ name, accepted, confirmed: sent }) => {
      const last = accepted[grantId];
      if (last === undefined) return [];
      const first = sent.find(({ verifierId, seq }) => confirmed.has(verifierId) && seq >= position.seq);
      if (first && last > first.at)
        return [`${name} accepted ${grantId} ${last - first.at} µs after it confirmed`];
      if (complete && last > doneAt)
        return [`${name} accepted ${grantId} ${last - doneAt} µs after the statement`];
      return [];
    });
  });
  return {
    ...{ calls: sum(({ calls }) => calls), asked: sum(({ asked }) => asked) },
    ...{ overtaken: sum(({ overtaken }) => overtaken), cuts: sum(({ cuts }) => cuts) },
    milliseconds: revocations.map(({ milliseconds }) => milliseconds).toSorted((one, other) => one - other),
    ...{ states, incomplete: revocations.filter(({ complete }) => !complete).length, broken },
  };
}
