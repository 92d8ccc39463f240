import assert from 'node:assert/strict';
import { test } from 'node:test';
import { grantOf, guarded } from './agent.js';

test('a tool within the grant runs, and another one does not', async () => {
  const { grantToken } = await grantOf('user_42', ['tool:calendar:read']);

  assert.deepEqual(await guarded(() => ['one'], 'list_events', grantToken)({}), ['one']);
  await assert.rejects(guarded(() => 'gone', 'delete_event', grantToken)({}), {
    reasonCode: 'permission_insufficient',
  });
});
