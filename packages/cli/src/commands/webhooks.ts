import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { readText } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { EXIT, wrongUsage } from '../errors.ts';
import { type CommandSpec, type Given, listOf, textOf } from '../program/spec.ts';
import { secretOf, secretOptions } from '../secrets.ts';

export const WEBHOOKS: readonly CommandSpec[] = [
  {
    name: 'webhooks verify',
    summary: 'Check the signature of a delivery that was kept',
    notes: 'Ends with 0 for a genuine delivery and with 1 for any other.',
    examples: [
      'behest webhooks verify --secret-env WEBHOOK_SECRET --file delivery.json --headers headers.txt',
    ],
    options: [
      ...secretOptions('secret', 'the secret of the webhook'),
      { flags: '--body, --file <file>', about: 'the body, byte for byte', isRequired: true },
      { flags: '--headers <file>', about: 'the headers: JSON, or lines of name: value', isRequired: true },
      { flags: '--max-age <seconds>', about: 'how old the delivery may be', default: '300' },
    ],
    run: verifyDelivery,
  },
  {
    name: 'webhooks listen',
    summary: 'Bring the events of the account to an address of this machine, signed as deliveries are',
    examples: ['behest webhooks listen --forward http://localhost:3000/webhooks --types grant.*'],
    options: [
      { flags: '--forward <url>', about: 'where the events go', isRequired: true },
      { flags: '--types <a,b>', about: 'names of types, or areas such as grant.*' },
      ...secretOptions('secret', 'the secret to sign with; default: a new one, which is printed'),
      { flags: '--count <n>', about: 'end after so many events' },
    ],
    run: listen,
  },
];

async function verifyDelivery(context: Context, given: Given): Promise<number> {
  const secret = await secretOf(context, given, 'secret');
  if (secret === undefined)
    throw wrongUsage('Give one of: --secret-file, --secret-stdin, --secret-env.', context.help);
  const maxAge = Number(textOf(given, 'maxAge'));
  if (!(maxAge > 0)) throw wrongUsage('--max-age has to be a number above 0.', context.help);
  const { constructEvent } = await import('@behest/sdk/webhooks');
  const body = bytesIn(context, textOf(given, 'file') ?? '');
  const headers = headersIn(readText(resolve(context.io.folder, textOf(given, 'headers') ?? '')));
  try {
    const event = constructEvent(body, headers, secret, { toleranceSeconds: maxAge });
    await context.one({ valid: true, id: event.id, type: event.type, createdAt: event.createdAt });
    return EXIT.done;
  } catch (error) {
    const { reason } = Object(error);
    if (typeof reason !== 'string') throw error;
    await context.one({ valid: false, reason });
    return EXIT.no;
  }
}

function bytesIn(context: Context, file: string): Uint8Array {
  try {
    return readFileSync(resolve(context.io.folder, file));
  } catch {
    throw wrongUsage(`${file} cannot be read.`, context.help);
  }
}

function headersIn(text: string): Record<string, string> {
  if (text.trimStart().startsWith('{')) return Object(JSON.parse(text));
  const lines = text.split(/\r?\n/).filter((line) => line.includes(':'));
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).trim(), line.slice(line.indexOf(':') + 1).trim()]),
  );
}

async function listen(context: Context, given: Given): Promise<void> {
  const forward = textOf(given, 'forward') ?? '';
  if (!URL.canParse(forward))
    throw wrongUsage(`--forward has to be an address, and is "${forward}".`, context.help);
  const chosen = await secretOf(context, given, 'secret');
  const secret = chosen ?? `whsec_${randomBytes(32).toString('base64')}`;
  const client = await context.client();
  if (chosen === undefined && !context.globals.isDry) context.note(`secret: ${secret}`);
  const types = textOf(given, 'types');
  const most = Number(textOf(given, 'count') ?? Number.POSITIVE_INFINITY);
  const { signal } = context.io;
  let passed = 0;
  context.note(`listening; events go to ${forward}`);
  for await (const event of client.events.stream({
    types: types === undefined ? undefined : listOf(types),
    signal,
  })) {
    if (!('id' in event)) {
      context.note('There was a gap: behest events list has what was missed.');
      continue;
    }
    const body = JSON.stringify(event);
    const answer = await context.io
      .fetch(forward, {
        method: 'POST',
        headers: signed(secret, event.id, event.type, body),
        body,
        redirect: 'manual',
        signal,
      })
      .catch((error: unknown) => error);
    const status = answer instanceof Response ? String(answer.status) : 'no answer';
    context.line(`${event.createdAt}  ${event.type}  ${event.id}  ${status}`);
    passed += 1;
    if (passed >= most) return;
  }
  signal.throwIfAborted();
}

/** The headers of a delivery, as the service signs them. */
function signed(secret: string, id: string, type: string, body: string): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const hex = (text: string) => `sha256=${createHmac('sha256', secret).update(text).digest('hex')}`;
  const standard = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${standard}`,
    'x-service-signature': hex(body),
    'x-service-timestamp': timestamp,
    'x-service-signature-v2': hex(`${timestamp}.${body}`),
    'x-service-delivery': `dlv_local_${randomUUID()}`,
    'x-service-event': type,
  };
}
