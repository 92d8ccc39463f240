#!/usr/bin/env node
import { processIo } from './context.ts';
import { CliError, EXIT } from './errors.ts';
import { main } from './main.ts';

const ending = new AbortController();
for (const [signal, exitCode] of [
  ['SIGINT', EXIT.interrupted],
  ['SIGTERM', EXIT.terminated],
] as const) {
  process.once(signal, () => {
    ending.abort(new CliError('INTERRUPTED', 'Interrupted.', { exitCode }));
    setTimeout(() => process.exit(exitCode), 5_000).unref(); // a command that does not hear of it
  });
}
// A reader that has read enough, as `head` has, ends the program quietly.
process.stdout.on('error', (error) =>
  process.exit(Object(error).code === 'EPIPE' ? EXIT.done : EXIT.unavailable),
);

process.exitCode = await main(process.argv.slice(2), processIo(ending.signal));
