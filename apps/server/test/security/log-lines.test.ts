import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';

const sources = join(import.meta.dirname, '../../src');

/**
 * The members that a log line may have. The logger reduces `err` to its kind, text and stack. It writes an error under
 * another name whole, with everything that a library put on it, so no other member here may be or hold an error.
 */
const MEMBERS = [
  'reqId',
  ...['err', 'job', 'phase', 'step', 'setting', 'code', 'lines', 'mail', 'version'],
  ...['method', 'route', 'status', 'responseTime', 'firstBrokenAt', 'problem', 'command', 'responseCode'],
  ...['pid', 'signal', 'processes'], // of the primary with `PROCESSES`
  ...['origin', 'size', 'lagSeconds', 'witness'], // of transparency logs
  ...['event', 'price'], // from the payment provider's events
  ...['credentialId', 'keyId', 'failure', 'reason', 'backend', 'what', 'bundle', 'developerId'],
];
/** Objects of the service's own that are spread into a line. */
const SPREAD = ['...tenant', '...how'];

/** The members that a text writes into lines of the log, and its arguments that are no literals. */
function membersIn(text: string, file: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && LINE.test(node.expression.getText())) {
      const [facts] = node.arguments;
      if (facts && ts.isObjectLiteralExpression(facts)) {
        found.push(
          ...facts.properties.map((each) =>
            ts.isSpreadAssignment(each) ? each.getText() : each.name.getText(),
          ),
        );
      } else if (facts && !isText(facts)) found.push(`${file}: ${facts.getText()}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
  return found;
}
const LINE = /\b(log|logger|currentLogger\(\))\??\.(trace|debug|info|warn|error|fatal)$/;

/** A sentence of the source, or the variable of a sentence that a caller wrote. */
const isText = (node: ts.Expression) =>
  ts.isStringLiteralLike(node) || ts.isTemplateExpression(node) || node.getText() === 'message';

test('L1: a line of the log holds members that are known, and no error but as `err`', () => {
  const files = globSync('**/!(*.test).ts', { cwd: sources });
  const members = files.flatMap((file) =>
    membersIn(readFileSync(join(sources, file), 'utf8'), basename(file)),
  );

  expect([...new Set(members)].sort()).toEqual([...MEMBERS, ...SPREAD].sort());
});

test.each([
  ['logger?.warn({ ...error }, "x")', ['...error']],
  ['request.log.error({ error }, "x")', ['error']],
  ['logger.error(error)', ['some.ts: error']],
  ['log.info({ err: error, detail: error.detail })', ['err', 'detail']],
  ["logger.info('x'); logger.info(`x`)", []],
])('a line that holds more is seen: %s', (text, members) => {
  expect(membersIn(text, 'some.ts')).toEqual(members);
});
