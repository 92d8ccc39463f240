import { once } from 'node:events';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { Behest } from '@behest/sdk';
import { BehestWebhookError, constructEvent } from '@behest/sdk/webhooks';
import { carryOut, stepsTo } from '../apply/plan.ts';
import { wantedIn } from '../apply/wanted.ts';
import { masked } from '../config/settings.ts';
import { isRecord, keepProfile, readUserConfig, userFile } from '../config/user-file.ts';
import type { Context } from '../context.ts';

const PATH = '/behest-dev';
const MAX_BYTES = 1_048_576; // more is no delivery of the service

interface Receiver {
  /** Has the events of an account delivered here. Webhooks of earlier receivers, whose ports are closed, are deleted. */
  follow(client: Behest): Promise<void>;
  close(): void;
}

/** Receives webhooks on this machine, checks each, and prints it. */
export async function openReceiver(context: Context): Promise<Receiver> {
  const secrets: string[] = [];
  const server = createServer(async (request, response) => {
    const status = request.method === 'POST' && request.url === PATH ? await statusOf(request) : 404;
    response.writeHead(status).end();
  });
  async function statusOf(request: IncomingMessage): Promise<number> {
    try {
      const event = constructEvent(await bodyOf(request), request.headers, secrets);
      context.line(`webhook  ${event.type}  ${event.id}  verified`);
      return 204;
    } catch (error) {
      const reason = error instanceof BehestWebhookError ? error.reason : 'unreadable';
      context.line(`webhook  refused: ${reason}`);
      return 400;
    }
  }
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${Object(server.address()).port}${PATH}`;
  return {
    async follow(client) {
      for await (const { webhookId, url: earlier } of client.webhooks.list())
        if (isOfReceiver(earlier)) await client.webhooks.delete(webhookId);
      const { secret } = await client.webhooks.create({ url, events: ['*'] });
      secrets.push(secret);
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

const isOfReceiver = (url: string) => /^http:\/\/127\.0\.0\.1:\d+\/behest-dev$/.test(url);

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request) {
    parts.push(Buffer.from(part));
    bytes += parts.at(-1)?.length ?? 0;
    if (bytes > MAX_BYTES) throw new Error('The body is too large.');
  }
  return Buffer.concat(parts);
}

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
