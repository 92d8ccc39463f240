import { afterAll, onTestFinished } from 'vitest';
import { pauseGone } from '../../src/features/extras/transmitter/care.ts';
import { makeSet } from '../../src/features/extras/transmitter/set.ts';
import { createDispatcher } from '../../src/features/record/webhooks/dispatch.ts';
import { webhookSeals } from '../../src/features/record/webhooks/secrets.ts';
import { createEgress, type EgressOptions } from '../../src/platform/egress/egress.ts';
import { startSandbox } from './flow.ts';
import { type Developer, type Service, startApp, type TestOptions } from './start-app.ts';

/** Times that a test shortens or lengthens, and where names lead. */
export interface SendingOptions extends Partial<EgressOptions> {
  readonly promptSeconds?: number;
}

/** Sends a service's deliveries like a process of its own. @returns also the reported failures */
export function dispatcherOf(
  { db, clock, keyRing, settings }: Service,
  { promptSeconds, ...options }: SendingOptions = {},
) {
  const failures: unknown[] = [];
  const egress = createEgress({ allowsHttp: true, allowsPrivateHosts: true, ...options });
  const onFailure = (error: unknown) => void failures.push(error);
  const seals = webhookSeals(keyRing);
  const dispatcher = createDispatcher({
    db,
    clock,
    egress,
    seals,
    keyRing,
    issuer: settings.tokens.issuer,
    makeSet,
    onStreamGone: pauseGone,
    onFailure,
    ...(promptSeconds !== undefined && { promptSeconds }),
  });
  onTestFinished(dispatcher.stop);
  /** Sends everything that is due, and waits for the end. */
  const deliver = async () => {
    await dispatcher.begin();
    await dispatcher.idle();
  };
  return { ...dispatcher, deliver, failures };
}

const toThisMachine = { WEBHOOK_ALLOW_PRIVATE_HOSTS: 'true' };

/** A service whose webhooks may lead to this machine, with a developer in the sandbox. */
export async function startWithWebhooks(options: TestOptions = {}, sending: SendingOptions = {}) {
  const env = { ...toThisMachine, ...options.env };
  const started = await startSandbox({ ...options, env });
  return { ...started, ...dispatcherOf(started.service, sending) };
}

/** Shares a service among tests that leave the clock alone. Each gets its own developer and dispatcher. */
export function sharedWithWebhooks() {
  let started: Promise<Service> | undefined;
  afterAll(async () => (await started)?.stop());
  return async (sending: SendingOptions = {}) => {
    started ??= startApp({ isShared: true, env: toThisMachine });
    const service = await started;
    const acme = await service.asDeveloper({ mode: 'sandbox' });
    return { ...service, service, acme, ...dispatcherOf(service, sending) };
  };
}

/** @returns the id and the secret */
export async function registerWebhook(developer: Developer, url: string, events: readonly string[] = ['*']) {
  const answer = await developer('POST', '/v1/webhooks', { url, events });
  if (answer.statusCode !== 201) throw new Error(`webhook: ${answer.body}`);
  const { webhookId, secret } = answer.json();
  return { webhookId: String(webhookId), secret: String(secret) };
}

export interface ShownDelivery {
  readonly id: string;
  readonly status: string;
  readonly attempts: number;
  readonly eventId: string;
  readonly eventType: string;
  readonly lastError: string | null;
  readonly lastStatusCode: number | null;
  readonly nextAttemptAt: string | null;
  readonly deliveredAt: string | null;
  readonly url: string;
}

/** Newest first. */
export async function deliveriesOf(developer: Developer, webhookId: string): Promise<ShownDelivery[]> {
  return (await developer('GET', `/v1/webhooks/${webhookId}/deliveries?limit=500`)).json().deliveries;
}
