import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Behest } from '@behest/sdk';
import { carryOut } from '../apply/carry-out.ts';
import { stepsTo } from '../apply/plan.ts';
import { wantedIn } from '../apply/wanted.ts';
import { keepProfile } from '../config/keep.ts';
import { masked } from '../config/settings.ts';
import { isRecord, readUserConfig, userFile } from '../config/user-file.ts';
import type { Context } from '../context.ts';
import type { Receiver } from './receiver.ts';

/** As the templates of `behest init` and the demo use them. */
const SCOPES = ['calendar:read', 'tool:calendar:read'];

export interface Started {
  /** The folder of the service's data and keys. */
  readonly data: string;
  readonly address: string;
  /** A file as `behest apply` reads it, for the sandbox account. */
  readonly seed?: string | undefined;
  readonly receiver?: Receiver | undefined;
}

/** Keeps the keys of a service that has started, sees to its first agent, and says what can be done with it. */
export async function firstSteps(context: Context, { data, address, seed, receiver }: Started) {
  const kept: unknown = JSON.parse(readFileSync(join(data, 'keys.json'), 'utf8'));
  const {
    SEED_API_KEY: live,
    SEED_SANDBOX_KEY: sandbox,
    SEED_CONSENT_KEY: consent,
  } = isRecord(kept) ? kept : {};
  const keep = (profile: string, apiKey: unknown, consentKeyFile?: string) => {
    if (typeof apiKey !== 'string') return '';
    keepProfile(context.io, profile, { baseUrl: address, apiKey, consentKeyFile, developerId: undefined });
    return masked(apiKey);
  };
  const { SEED_CONSENT_KEY, SEED_CONSENT_KEY_FILE } = context.io.env; // the service has another key then
  const isOwn = !SEED_CONSENT_KEY && !SEED_CONSENT_KEY_FILE;
  const consentKeyFile = isOwn ? keepConsentKey(data, consent) : undefined;
  const shown = { sandbox: keep('dev', sandbox), live: keep('dev-live', live, consentKeyFile) };
  const clientWith = (key: unknown) =>
    new Behest({
      ...{ apiKey: String(key), baseUrl: address },
      fetch: context.exchange.fetchWith(String(key)),
    });
  const client = clientWith(sandbox);
  if (receiver) {
    for (const key of [sandbox, live]) await receiver.follow(clientWith(key));
    context.note(
      'webhooks     every event of both accounts is delivered here, and printed once it is verified',
    );
  }
  if (seed !== undefined) await makeAsIn(context, client, seed);
  const agent = await agentOf(client);
  const isCurrent = readUserConfig(userFile(context.io)).current === 'dev';
  context.note(
    [
      `sandbox key  ${shown.sandbox}  (saved to profile "dev")   agent ${agent}`,
      `live key     ${shown.live}  (saved to profile "dev-live"${consentKeyFile === undefined ? '' : ', with its consent key'})`,
      `next: ${['demo', 'doctor'].map((word) => `behest${isCurrent ? '' : ' --profile dev'} ${word}`).join(' · ')} · behest init`,
    ].join('\n'),
  );
}

/** Writes the key that vouches for people of the live account to a file of its own, for its owner alone. */
function keepConsentKey(data: string, key: unknown): string | undefined {
  if (typeof key !== 'string') return undefined;
  const file = join(data, 'consent-key.json');
  writeFileSync(`${file}.new`, `${key}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return file;
}

async function makeAsIn(context: Context, client: Behest, file: string): Promise<void> {
  const steps = await stepsTo(client, await wantedIn(context, file), false);
  for (const step of steps.filter(({ action }) => action !== 'keep')) {
    const made = await carryOut(client, step);
    context.note(`${step.action}d ${step.kind} ${step.name}`);
    if (made?.secret !== undefined) context.note(`secret of ${step.name}: ${made.secret} (shown once)`);
  }
}

/** The first agent of the sandbox account, which is made on the first start. */
async function agentOf(client: Behest): Promise<string> {
  const { agents } = await client.agents.list({ limit: 1 });
  const [first] = agents;
  if (first) return first.agentId;
  const { agentId } = await client.agents.register({ name: 'First agent', scopes: SCOPES });
  return agentId;
}
