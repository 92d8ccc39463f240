import type { EnforcerSetup } from '../src/enforcement/engine.ts';
import { setupOf, vectorsOf } from './enforce-case.ts';
import { PlainMeter } from './plain-meter.ts';

const payload = {
  sub: 'user_1',
  dev: 'dev_1',
  jti: 'tok_1',
  scp: ['tool:pay:admin'],
  'urn:service:grant': { agent_did: 'did:web:a', grant_id: 'grnt_1', developer_id: 'dev_1' },
};

/** The engine of a connector `pay` with one tool, `t0`, and a token that may use it. */
export function engineSetup(
  tool: object,
  { meter = new PlainMeter(() => 0), claims = {} }: { meter?: PlainMeter; claims?: object } = {},
): EnforcerSetup {
  const manifest = { $schema: 'urn:service:manifest:0.6', connector: 'pay', tools: { t0: tool } };
  const vector = { id: '', title: '', kind: 'enforce', manifest, claims: { ...payload, ...claims } };
  return setupOf(vector, vectorsOf('enforcement'), meter);
}
