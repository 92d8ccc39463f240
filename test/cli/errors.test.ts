import { expect, test } from 'vitest';
import { allCommands, GROUPS } from '../../packages/cli/src/program/groups.ts';
import { rootHelp } from '../../packages/cli/src/program/help.ts';
import type { CommandSpec } from '../../packages/cli/src/program/spec.ts';
import { newMachine } from './program.ts';

const commands = await allCommands();

test('the help of the program and of its groups is as it was', async () => {
  const { run } = newMachine();
  const helps: string[] = [rootHelp()];
  for (const { name } of GROUPS) helps.push((await run([name, '--help'])).out);

  await expect(helps.join('\n')).toMatchFileSnapshot('help.txt');
});

const demands = ({ options = [] }: CommandSpec) => options.some(({ isRequired }) => isRequired);

/** A missing option is told of first. */
const lenient = commands.filter((command) => !demands(command));

test.each(lenient.map(({ name }) => [name]))('%s refuses an option that it does not have', async (name) => {
  const { code, out, err } = await newMachine().run([...name.split(' '), '--no-such-option']);

  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toBe(`error: Unknown option '--no-such-option'.\ntry: behest ${name} --help\n`);
});

const isNeeded = (command: CommandSpec) =>
  demands(command) || (command.args ?? []).some(({ isOptional }) => !isOptional);

// `help` alone lists its topics.
const needy = commands.filter((command) => isNeeded(command) && command.name !== 'help');

test.each(needy.map(({ name }) => [name]))('%s says what is missing', async (name) => {
  const { code, err } = await newMachine({ BEHEST_API_KEY: 'bh_test_1' }).run(name.split(' '));

  expect(code).toBe(2);
  expect(err).toMatch(/missing/i);
  expect(err).toContain(`\ntry: behest ${name} --help\n`);
});

/** Commands of one operation, with a word for each argument and each option that they need. */
const calls = commands
  .filter(
    ({ operation, options = [] }) =>
      operation !== undefined &&
      operation !== 'events.stream' && // it connects again until it is stopped
      !options.some(({ flags }) => /-(file|env) /.test(flags)),
  )
  .map(({ name, args = [], options = [] }) => ({
    name,
    argv: [
      ...name.split(' '),
      ...args.filter(({ isOptional }) => !isOptional).map(() => 'x'),
      ...options
        .filter(({ isRequired }) => isRequired)
        .flatMap(({ flags, choices }) => [String(/--[\w-]+/.exec(flags)), choices?.[0] ?? '1']),
      '--yes',
    ],
  }));

test.each(calls)(
  '$name ends with 4 where the service refuses, and with 8 where there is none',
  async ({ argv }) => {
    const { run } = newMachine({ BEHEST_API_KEY: 'bh_test_1' });
    const refuses = async () => Response.json({ code: 'FORBIDDEN', message: 'Not you.' }, { status: 403 });
    const isAway = async () =>
      Promise.reject(Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNREFUSED' } }));

    const refused = await run([...argv, '--json'], { fetch: refuses });
    const away = await run([...argv, '--retries', '0'], { fetch: isAway });

    if (refused.code === 2) return expect(refused.err).toContain('"USAGE"'); // it takes a body from a file
    expect(refused).toMatchObject({ code: 4, out: '' });
    expect(JSON.parse(refused.err)).toMatchObject({ error: { code: 'FORBIDDEN', exitCode: 4 } });
    expect(away).toMatchObject({
      code: 8,
      err: expect.stringMatching(/ECONNREFUSED[\s\S]*\ntry: behest doctor\n$/),
    });
  },
);
