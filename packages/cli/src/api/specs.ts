import type { ArgumentSpec, OptionSpec } from '../program/options.ts';
import type { CommandSpec } from '../program/spec.ts';
import { flagOf, secretOptions, TOKEN_OPTIONS } from '../secrets.ts';
import { FILE_OPTION } from './answers.ts';
import { exampleOf } from './examples.ts';
import { BODY_OPTION, optionsOf } from './fields.ts';
import { isOfPaging, LIST_OPTIONS } from './lists.ts';
import { BY_HAND, EXEMPT, NAMINGS } from './naming.ts';
import { OPERATIONS } from './operations.gen.ts';
import type { Field, OperationRow } from './rows.ts';
import { runRow } from './run.ts';
import { isToken, tokenPlace } from './token-place.ts';

/** Makes the commands of a resource from the operations of the service. */
export function apiCommands(group: string): CommandSpec[] {
  return OPERATIONS.filter((row) => isOfTable(row) && commandOf(row).split(' ')[0] === group).map(
    commandSpec,
  );
}

export const isOfTable = ({ id }: OperationRow) => !(id in EXEMPT) && !(id in BY_HAND);

/** The words of the command of an operation. */
export const commandOf = ({ id, method }: Pick<OperationRow, 'id' | 'method'>): string =>
  BY_HAND[id] ?? NAMINGS[id]?.command ?? method.split('.').map(flagOf).join(' ');

/** The row of an operation, for commands that are written by hand. */
export function rowOf(id: string): OperationRow {
  const found = OPERATIONS.find((row) => row.id === id);
  if (found) return found;
  throw new TypeError(`There is no operation ${id}.`);
}

function commandSpec(row: OperationRow): CommandSpec {
  const name = commandOf(row);
  const naming = NAMINGS[row.id] ?? {};
  const args: ArgumentSpec[] = row.path.map((each) => ({
    name: flagOf(each),
    about: `the ${flagOf(each).replaceAll('-', ' ')}`,
  }));
  const { isTaken, isArgument } = tokenPlace(row);
  if (isArgument) args.unshift({ name: 'token', about: 'the token', isOptional: true });
  for (const each of row.first.filter((each) => !isToken(each)))
    args.push({ name: flagOf(each), about: `the ${flagOf(each).replaceAll('-', ' ')}` });
  return {
    name,
    summary: row.summary,
    operation: row.id,
    args,
    options: optionsFor(row, isTaken),
    examples: [`behest ${name}${exampleOf(row, naming)}`],
    ...(naming.verdict !== undefined && { notes: 'Ends with 0 for yes and with 1 for no.' }),
    run: (context, given) => runRow(context, given, row, naming),
  };
}

function optionsFor({ body, query, rows, as, file }: OperationRow, hasToken: boolean): OptionSpec[] {
  const fields = [...(body ?? []), ...(query ?? [])].filter(
    ({ name }) => !(rows && isOfPaging(name)) && !isToken(name),
  );
  return [
    ...fields.flatMap(optionsOf),
    ...(body && !isTokenAlone(body) ? [BODY_OPTION] : []),
    ...(rows ? LIST_OPTIONS : []),
    ...(hasToken ? TOKEN_OPTIONS : []),
    ...(as === 'scim' ? secretOptions('scim-token', 'the SCIM token') : []),
    ...(as === 'operator' ? secretOptions('admin-key', "the operator's key") : []),
    ...(as === 'session' ? secretOptions('session-token', "the token of the person's session") : []),
    ...(file ? [FILE_OPTION] : []),
  ];
}

const isTokenAlone = (body: readonly Field[]) => body.length > 0 && body.every(({ name }) => isToken(name));
