import type { CommandSpec } from '../program/spec.ts';
import { openPage } from '../system/pages.ts';

export const DECISIONS: readonly CommandSpec[] = [
  {
    name: 'decisions open',
    summary: 'Open the page of a decision in the browser, where a person with a passkey decides',
    args: [{ name: 'id', about: 'the id of the decision' }],
    examples: ['behest decisions open <id>'],
    async run(context, { args: [id = ''] }) {
      const { url } = await (await context.client()).decisions.get(id);
      await openPage(context, url);
    },
  },
];
