import { test, vi } from 'vitest';
import { channelSeals } from '../../src/features/calls/anomalies/channels.ts';
import { sendMessages } from '../../src/features/calls/anomalies/messages.ts';
import { grantTo } from '../app/flow.ts';
import { interleaving, type Side } from '../app/interleaving.ts';

vi.setConfig({ testTimeout: 120_000 }); // a detection has many steps, and a busy machine takes long

const { race } = interleaving();

const channel = (name: string) => ({
  type: 'webhook',
  name,
  config: { url: 'https://pager.test/hooks/1', secret: 'a-secret-of-the-receiver' },
});
const create = ({ acme }: Side) => acme('POST', '/v1/anomaly/channels', channel('Pager'));

test('two channels of one name', () =>
  race({
    prepare: async () => ({}),
    one: create,
    answers: ['201, 409 CONFLICT', '409 CONFLICT, 201'],
  }));

test('two detections', () =>
  race({
    prepare: (acme) => grantTo(acme),
    one: ({ acme }) => acme('POST', '/v1/anomalies/detect', {}),
    answers: ['200, 200'],
  }));

test('two processes that send a message', () =>
  race({
    async prepare(acme) {
      const { id } = (await acme('POST', '/v1/anomaly/channels', channel('Pager'))).json();
      await acme('POST', `/v1/anomaly/channels/${id}/test`, {});
      return { sent: [] as string[] };
    },
    async one({ service, acme }, { sent }) {
      await sendMessages({
        ...service,
        seals: channelSeals(service.keyRing),
        egress: {
          async send({ body = '' }) {
            if (body.includes(acme.developerId)) sent.push(String(body));
            return { status: 500 }; // the message stays
          },
        },
        publicBaseUrl: 'https://behest.test',
        chargeRecipient: async () => {},
        onFailure(error) {
          throw error;
        },
      });
      return undefined;
    },
    answers: ['done, done'],
    look: async (_, { sent }) => `${sent.length} sent`,
  }));
