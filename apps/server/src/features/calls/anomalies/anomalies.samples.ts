import type { Samples } from '../../../../test/app/samples.ts';

const rule = { ruleId: 'many_mails', name: 'Many mails', condition: { timeWindow: '1h', threshold: 5 } };
const channel = {
  type: 'slack',
  name: 'Security',
  config: { webhookUrl: 'https://hooks.slack.test/services/T0/B0/secret' },
};

export const samples: Samples = {
  async possess(developer) {
    await developer('POST', '/v1/anomalies/detect', {});
    const [{ id: anomalyId }] = (await developer('GET', '/v1/anomalies')).json().anomalies;
    await developer('POST', '/v1/anomaly/rules', rule);
    const { id } = (await developer('POST', '/v1/anomaly/channels', channel)).json();
    await developer('POST', `/v1/anomaly/channels/${id}/test`, {});
    return { anomalyId, alertId: anomalyId, ruleId: rule.ruleId, channelId: id };
  },
  nobodys: {
    anomalyId: 'anm_01K9Z3QW5M8T2V4X6Y7Z8A9B0C',
    alertId: 'anm_01K9Z3QW5M8T2V4X6Y7Z8A9B0C',
    ruleId: 'nobodys_rule',
    channelId: 'achan_01K9Z3QW5M8T2V4X6Y7Z8A9B0C',
  },
  ways: {
    'PATCH /v1/anomalies/:id/acknowledge': { id: 'anomalyId', body: () => ({}) },
    'GET /v1/anomaly/alerts/:alertId': {},
    'POST /v1/anomaly/alerts/:alertId/acknowledge': { body: () => ({}) },
    'POST /v1/anomaly/alerts/:alertId/resolve': { body: () => ({}) },
    'PATCH /v1/anomaly/rules/:ruleId': { body: () => ({ enabled: false }) },
    'DELETE /v1/anomaly/rules/:ruleId': {},
    'PATCH /v1/anomaly/channels/:id': { id: 'channelId', body: () => ({ enabled: false }) },
    'DELETE /v1/anomaly/channels/:id': { id: 'channelId' },
    'POST /v1/anomaly/channels/:id/test': { id: 'channelId' },
  },
  bodies: {
    'POST /v1/anomalies/detect': {},
    'POST /v1/anomaly/rules': { ...rule, ruleId: 'another_rule' },
    'POST /v1/anomaly/channels': { ...channel, name: 'Another' },
  },
  needFullKey: [
    'POST /v1/anomalies/detect',
    'GET /v1/anomalies',
    'PATCH /v1/anomalies/:id/acknowledge',
    'GET /v1/anomaly/alerts',
    'GET /v1/anomaly/alerts/:alertId',
    'POST /v1/anomaly/alerts/:alertId/acknowledge',
    'POST /v1/anomaly/alerts/:alertId/resolve',
    'GET /v1/anomaly/metrics',
    'GET /v1/anomaly/rules',
    'POST /v1/anomaly/rules',
    'PATCH /v1/anomaly/rules/:ruleId',
    'DELETE /v1/anomaly/rules/:ruleId',
    'GET /v1/anomaly/channels',
    'POST /v1/anomaly/channels',
    'PATCH /v1/anomaly/channels/:id',
    'DELETE /v1/anomaly/channels/:id',
    'POST /v1/anomaly/channels/:id/test',
  ],
  shownAt: () => ['/v1/anomaly/alerts', '/v1/anomaly/rules', '/v1/anomaly/channels'],
};
