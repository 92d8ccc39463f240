import { listOf, textOf } from '../program/options.ts';
import type { CommandSpec } from '../program/spec.ts';

export const EVENTS: readonly CommandSpec[] = [
  {
    name: 'events stream',
    summary: 'Print events as they happen, and go on after a break',
    operation: 'events.stream',
    examples: ['behest events stream', 'behest events stream --types grant.*,token.* --json'],
    options: [
      { flags: '--types <a,b>', about: 'names of types, or areas such as grant.*' },
      { flags: '--last-event-id <id>', about: 'the last event that was dealt with' },
      { flags: '--count <n>', about: 'end after so many events' },
    ],
    async run(context, given) {
      const client = await context.client();
      const types = textOf(given, 'types');
      const most = Number(textOf(given, 'count') ?? Number.POSITIVE_INFINITY);
      const { io, globals } = context;
      const isTable = globals.output === 'table' && io.isTerminal.output;
      let printed = 0;
      const options = {
        types: types === undefined ? undefined : listOf(types),
        lastEventId: textOf(given, 'lastEventId'),
        signal: io.signal,
      };
      for await (const event of client.events.stream(options)) {
        const data: unknown = event.data;
        context.line(
          isTable && 'id' in event
            ? `${event.createdAt}  ${event.type}  ${JSON.stringify(data)}`
            : JSON.stringify(event),
        );
        printed += 1;
        if (printed >= most) return;
      }
      io.signal.throwIfAborted();
    },
  },
];
