import type { Samples } from '../../../../test/app/samples.ts';

const webhook = { url: 'https://hooks.acme.test/behest', events: ['grant.*'] };

export const samples: Samples = {
  async possess(developer) {
    const { webhookId } = (await developer('POST', '/v1/webhooks', webhook)).json();
    const { deliveryId } = (await developer('POST', `/v1/webhooks/${webhookId}/test`, {})).json();
    return { webhookId, deliveryId };
  },
  nobodys: { webhookId: 'wh_01K9Z3QW5M8T2V4X6Y7Z8A9B0C', deliveryId: 'whd_01K9Z3QW5M8T2V4X6Y7Z8A9B0C' },
  ways: {
    'GET /v1/webhooks/:id': { id: 'webhookId' },
    'PATCH /v1/webhooks/:id': { id: 'webhookId', body: () => ({ description: 'Taken over' }) },
    'DELETE /v1/webhooks/:id': { id: 'webhookId' },
    'POST /v1/webhooks/:id/rotate-secret': { id: 'webhookId' },
    'POST /v1/webhooks/:id/test': { id: 'webhookId' },
    'GET /v1/webhooks/:id/deliveries': { id: 'webhookId' },
    'GET /v1/webhooks/:id/deliveries/:deliveryId': { id: 'webhookId' },
    'POST /v1/webhooks/:id/recover': {
      id: 'webhookId',
      body: () => ({ since: '2025-12-20T00:00:00Z', until: '2026-01-10T00:00:00Z' }),
    },
    'POST /v1/webhooks/:id/deliveries/:deliveryId/redeliver': { id: 'webhookId' },
  },
  bodies: { 'POST /v1/webhooks': webhook },
  needFullKey: [
    'GET /v1/webhooks',
    'GET /v1/webhooks/:id',
    'GET /v1/webhooks/:id/deliveries',
    'GET /v1/webhooks/:id/deliveries/:deliveryId',
    'POST /v1/webhooks',
    'PATCH /v1/webhooks/:id',
    'DELETE /v1/webhooks/:id',
    'POST /v1/webhooks/:id/deliveries/:deliveryId/redeliver',
    'POST /v1/webhooks/:id/recover',
    'POST /v1/webhooks/:id/rotate-secret',
    'POST /v1/webhooks/:id/test',
  ],
  shownAt: ({ webhookId }) => [`/v1/webhooks/${webhookId}/deliveries`, '/v1/webhooks'],
};
