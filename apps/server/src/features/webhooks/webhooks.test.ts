import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { deliveriesOf, registerWebhook, startWithWebhooks } from '../../../test/deliveries.ts';
import { actionsOf, grantTo, registerAgent } from '../../../test/flow.ts';
import { type Received, startReceiver } from '../../../test/receiver.ts';

test('a grant is told of, signed, in the bytes of its event', async () => {
  const receiver = await startReceiver();
  const { acme, deliver } = await startWithWebhooks();
  const { webhookId, secret } = await registerWebhook(acme, receiver.url, ['grant.created']);

  const { grantId } = await grantTo(acme);
  await deliver();

  const [delivery] = await deliveriesOf(acme, webhookId);
  expect(delivery).toMatchObject({ status: 'delivered', attempts: 1, eventType: 'grant.created' });
  expect(receiver.received).toHaveLength(1);
  const { headers = {}, body = '' }: Partial<Received> = receiver.received[0] ?? {};
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'user-agent': 'Service-Webhooks/0.1',
    'x-service-delivery': delivery?.id,
    'x-service-event': 'grant.created',
    'webhook-id': delivery?.eventId,
  });
  const event = JSON.parse(body);
  expect(event).toMatchObject({ type: 'grant.created', sandbox: true, data: { grantId } });
  expect(new Webhook(secret).sign(event.id, new Date(event.createdAt), body)).toBe(
    headers['webhook-signature'],
  );
});

test('registering, changing and deleting are acts, and are told of', async () => {
  const { acme } = await startWithWebhooks();
  const { webhookId } = await registerWebhook(acme, 'https://hooks.acme.test/behest', ['grant.*', '*']);

  await acme('PATCH', `/v1/webhooks/${webhookId}`, { description: 'Ours' });
  await registerAgent(acme);
  const events = (await deliveriesOf(acme, webhookId)).map(({ eventType }) => eventType);
  await acme('DELETE', `/v1/webhooks/${webhookId}`);

  expect(events.sort()).toEqual(['agent.created', 'webhook.created', 'webhook.updated']);
  expect((await actionsOf(acme)).filter((action) => action.startsWith('webhook.'))).toEqual([
    'webhook.created',
    'webhook.updated',
    'webhook.deleted',
  ]);
});
