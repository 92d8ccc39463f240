import type { Samples } from '../../../../test/app/samples.ts';

/** A call with units, on the manifest of the samples. */
const call = { connector: 'acme_mail', tool: 'send_mail', arguments: { to: 'ada@acme.test' } };

const replay = {
  candidate: { connector: 'acme_mail', tools: { send_mail: 'read' } },
  since: '2025-12-20T00:00:00Z',
  until: '2026-01-10T00:00:00Z',
};

export const samples: Samples = {
  async possess(developer, { grantToken }) {
    const { call_id } = (await developer('POST', '/v1/enforce', { ...call, grantToken })).json();
    return { callId: call_id };
  },
  nobodys: { callId: 'nobodys-call' },
  ways: {
    'POST /v1/enforce': {
      body: ({ grantToken }) => ({ ...call, grantToken, callId: 'call-of-the-samples' }),
    },
    'POST /v1/enforce/tools': {
      body: ({ grantToken }) => ({ connector: 'acme_mail', tools: [{ name: 'send_mail' }], grantToken }),
    },
    'POST /v1/enforce/:callId/sent': {},
    'POST /v1/enforce/:callId/refund': {},
  },
  bodies: { 'POST /v1/manifests/:connector/replay': replay },
  needFullKey: ['POST /v1/manifests/:connector/replay'],
};
