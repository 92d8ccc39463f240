import { integer } from '../../../config/readers.ts';
import { defaulted, optional } from '../../../config/setting.ts';
import { defineFeature } from '../../../feature.ts';
import { act, type DataOf, entryOnly } from '../../../platform/acts.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { on } from '../../../platform/hooks.ts';
import type { Job } from '../../../platform/jobs/jobs.ts';
import { chainCompared } from '../audit/index.ts';
import { transparencyLog } from './index.ts';
import { createIntegrator, createLogWork, type LogWork } from './integrate.ts';
import { compareWithLog, createTransparencyLog } from './prove.ts';
import { type SubmitDeps, submitNotes, type Witness, witnessList } from './submit.ts';
import { countHaltedAcrossTenants } from './transparency.repo.ts';
import { logAdminRoutes, publicLogRoutes, rates, transparencyRoutes } from './transparency.routes.ts';
import { countContradictedAcrossTenants } from './witness.repo.ts';

const tables: TableUse = {
  owns: {
    tlog_logs: { most: 10 },
    tlog_index: { of: 'tlog_logs' },
    tlog_tiles: { of: 'audit_entries', kib: 8 },
    tlog_checkpoints: { of: 'audit_entries' },
    tlog_witnesses: { of: 'tlog_logs' },
  },
  reads: ['audit_heads', 'audit_entries', 'developers'],
  writes: [],
};

const LOOK_SECONDS = 30;

/** Adds the entries that this process has appended. */
const growth = ({ workOff }: LogWork, everySeconds: number): Job => ({
  name: 'transparency logs',
  everySeconds,
  run: workOff,
});

/** Finds what others have appended, and what no process remembers after a crash. */
const looks = ({ look }: LogWork): Job => ({
  name: 'transparency logs behind',
  everySeconds: LOOK_SECONDS,
  run: look,
});

/** Asks a witness to confirm what has been added. */
const witnessing = (deps: SubmitDeps, witnesses: readonly Witness[]): Job => ({
  name: 'transparency witnesses',
  everySeconds: LOOK_SECONDS,
  async run(signal) {
    await Promise.all(witnesses.map((witness) => submitNotes(deps, witness, signal)));
  },
});

interface OfLog {
  readonly origin: string;
  /** One word: what of the log contradicts what was there before. */
  readonly reason: string;
  readonly size: number;
}

interface OfWitness {
  readonly origin: string;
  readonly witness: string;
  /** Of the tree that the witness refused. */
  readonly size: number;
}

const acts = { 'transparency.halted': act<OfLog>(), 'transparency.contradicted': act<OfWitness>() };

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
  interface Entries {
    'transparency.restarted': {
      readonly oldOrigin: string;
      readonly oldSize: number;
      /** In base64. */
      readonly oldRoot: string;
      readonly newOrigin: string;
    };
  }
}

export const transparency = defineFeature({
  name: 'transparency',
  tags: { transparency: 'The transparency log: proofs of audit entries for people outside.' },
  tables,
  acts: { ...acts, 'transparency.restarted': entryOnly() },
  rates,
  metrics: {
    transparency_halted: {
      kind: 'asked',
      help: 'Transparency logs that contradict themselves, and are not signed any more.',
    },
    transparency_contradicted: {
      kind: 'asked',
      help: 'Transparency logs whose note a witness refuses because it says that it knows another history.',
    },
    transparency_lag_seconds: {
      kind: 'asked',
      help: 'Age of the oldest audit entry that was outside its transparency log when this process last looked.',
    },
  },
  settings: {
    TRANSPARENCY_INTERVAL_SECONDS: defaulted(
      integer(1, 30),
      '10',
      'Seconds between two rounds in which a process adds new audit entries to the transparency logs.',
    ),
    TRANSPARENCY_WITNESSES: optional(
      witnessList,
      'no witness',
      'Who confirms that the transparency logs of live accounts only grow (C2SP tlog-witness).',
    ),
    TRANSPARENCY_WITNESS_INTERVAL_SECONDS: defaulted(
      integer(10, 86_400),
      '300',
      'Seconds between two checkpoints of one log that a witness is asked to confirm.',
    ),
  },
  listens: [on(chainCompared, compareWithLog)],
  open(context, settings) {
    const { TRANSPARENCY_INTERVAL_SECONDS: everySeconds, TRANSPARENCY_WITNESSES: witnesses = [] } = settings;
    const logger = context.logger ?? { fatal() {}, error() {} };
    const integrator = createIntegrator({ ...context, logger });
    const work = createLogWork(integrator, { ...context, logger });
    const deps = { ...context, integrator };
    const submitting = {
      ...{ ...deps, logger, everySeconds: settings.TRANSPARENCY_WITNESS_INTERVAL_SECONDS },
      egress: context.openEgress({ allowsHttp: true, allowsPrivateHosts: true }), // the operator has named the witnesses
    };
    context.provide(transparencyLog, createTransparencyLog(deps));
    context.metrics.ask('transparency_halted', () => countHaltedAcrossTenants(context.db));
    const names = witnesses.map(({ key }) => key.name);
    context.metrics.ask('transparency_contradicted', () => countContradictedAcrossTenants(context.db, names));
    context.metrics.ask('transparency_lag_seconds', async () => work.lag());
    context.notices.listenToEntries(work.wake);
    return {
      async routes(app) {
        await transparencyRoutes(app, deps);
        await publicLogRoutes(app, deps);
        await logAdminRoutes(app, deps);
      },
      jobs: [growth(work, everySeconds), looks(work), witnessing(submitting, witnesses)],
    };
  },
});
