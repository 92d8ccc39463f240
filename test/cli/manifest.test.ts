import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { manifestFromYamlText } from '@behest/protocol/manifest/yaml-text';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { READY } from '../../packages/cli/src/manifests/ready.ts';
import { newMachine } from './program.ts';

/** A machine with files, by their names. */
function machineWith(files: Readonly<Record<string, string>>) {
  const machine = newMachine();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(machine.folder, name), text);
  return machine;
}

const GOOD =
  'connector: crm\nversion: 1.0.0\ntools:\n  lookup: read\n  transfer:\n    permission: write\n    caps:\n      per_day: 10\n';

describe('manifest check', () => {
  test('finds every fault with its place, the one of the loader first', async () => {
    const { run } = machineWith({
      'bad.yaml':
        'connector: crm\ntools:\n  lookup: reed\n  pay:\n    permission: read\n    requires_decision: true\n    extra: 1\n  send.mail:\n    caps:\n      per_day: -1\n',
    });

    const { code, out } = await run(['manifest', 'check', 'bad.yaml', '--format', 'json']);

    expect(code).toBe(1);
    const problems: { line: number; column: number; rule: string; path: string }[] = JSON.parse(out);
    expect(problems.map(({ line, column, rule, path }) => `${line}:${column} ${rule} ${path}`)).toEqual([
      '3:3 invalid_permission tools.lookup',
      '7:5 unknown_key tools.pay.extra',
      '6:5 decision_on_read tools.pay.requires_decision',
      '8:3 missing_key tools.send.mail.permission',
    ]);
  });

  test.each([
    ['a repeated key', 'connector: a\ntools:\n  x: read\n  x: write\n', '4:3  error  duplicate_key  tools.x'],
    ['a text that cannot be read', 'connector: [a\n', 'error  unparseable'],
    ['JSON', '{"connector":"a","tools":{"x":"no"}}', '1:27  error  invalid_permission  tools.x'],
  ])('names the place in %s', async (_, text, line) => {
    const { run } = machineWith({ [text.startsWith('{') ? 'm.json' : 'm.yaml']: text });

    const { code, out } = await run(['manifest', 'check', text.startsWith('{') ? 'm.json' : 'm.yaml']);

    expect(code).toBe(1);
    expect(out.replace('m.json', 'm.yaml')).toContain(line.includes(':') ? `m.yaml:${line}` : line);
  });

  test('warns of unknown keys of manifests of texts, which --strict takes for faults', async () => {
    const { run } = machineWith({ 'm.yaml': 'connector: a\nowner: me\ntools:\n  x: read\n' });

    const [lenient, strict] = [
      await run(['manifest', 'check', 'm.yaml']),
      await run(['manifest', 'check', 'm.yaml', '--strict']),
    ];

    expect(lenient).toMatchObject({
      code: 0,
      out: expect.stringContaining('m.yaml:2:1  warning  manifest_unknown_key  owner'),
    });
    expect(strict.code).toBe(1);
  });

  test('prints no command of GitHub and no control character that a manifest has', async () => {
    const key = JSON.stringify('x\r\n::stop-commands::y%\u001b[31m');
    const { run } = machineWith({ 'a,b.yaml': `connector: a\ntools:\n  ${key}: reed\n` });

    const github = await run(['manifest', 'check', 'a,b.yaml', '--format', 'github']);
    const pretty = await run(['manifest', 'check', 'a,b.yaml']);

    expect(
      github.out
        .trimEnd()
        .split('\n')
        .filter((line) => !/^::(error|warning) file=a%2Cb\.yaml,/.test(line)),
    ).toEqual([]);
    expect(github.out).toContain('%0D%0A::stop-commands::y%25\\u001b[31m');
    expect(`${github.out}${pretty.out}`).not.toMatch(/\r|\p{Cc}\[/u);
    expect(pretty.out).toContain('\\u001b[31m');
  });

  test('prints annotations and SARIF, and reads folders, the project and standard input', async () => {
    const { run, folder } = machineWith({ 'm.yaml': 'connector: a\ntools:\n  x: reed\n' });
    const github = await run(['manifest', 'check', '.', '--format', 'github']);
    const sarif = await run(['manifest', 'check', 'm.yaml', '--format', 'sarif']);
    writeFileSync(join(folder, 'behest.json'), JSON.stringify({ manifests: ['m.yaml'] }));

    expect(github.out).toBe(
      '::error file=m.yaml,line=3,col=3,title=invalid_permission::tools.x: the permission is not read, write, delete or admin\n',
    );
    expect(JSON.parse(sarif.out).runs[0].results[0]).toMatchObject({
      ruleId: 'invalid_permission',
      level: 'error',
    });
    expect((await run(['manifest', 'check'])).code).toBe(1);
    expect(await run(['manifest', 'check', '-'], { input: GOOD })).toEqual({
      code: 0,
      out: '',
      err: '1 manifest, 0 faults, 0 warnings\n',
    });
    expect((await run(['manifest', 'check', 'nowhere'])).code).toBe(2);
  });
});

describe('manifest infer', () => {
  const listed = JSON.stringify([
    'get_user',
    'createUser',
    'drop_table',
    'frobnicate',
    'search_and_delete',
    { name: 'peek', annotations: { readOnlyHint: true } },
  ]);

  test('guesses from names, the higher permission where two fit, delete where none does', async () => {
    const { run } = machineWith({ 'tools.json': listed });

    const { code, out, err } = await run(['manifest', 'infer', 'tools.json']);

    expect(code).toBe(0);
    expect(out).toBe(
      [
        'connector: tools',
        'version: 1.0.0',
        'tools:',
        '  createUser: write # its name has "create"',
        '  drop_table: delete # its name has "drop"',
        '  frobnicate: delete # review: its name says nothing',
        '  get_user: read # its name has "get"',
        '  peek: read # the server says that it only reads',
        '  search_and_delete: delete # its name has "delete"\n',
      ].join('\n'),
    );
    expect(err).toBe('6 tools, 1 of them to review\n');
    expect(manifestFromYamlText(out).tools.size).toBe(6);
  });

  test('reads an OpenAPI description, and code', async () => {
    const { run } = machineWith({
      'api.yaml':
        'openapi: 3.1.0\npaths:\n  /users:\n    get: {operationId: listUsers}\n    post: {}\n  /users/{id}:\n    delete: {operationId: removeUser}\n',
      'tools.ts':
        "server.registerTool('send_mail', {}, send);\nconst list = { name: 'list_mail', description: 'x' };\n",
    });

    const [api, code] = [
      await run(['manifest', 'infer', 'api.yaml']),
      await run(['manifest', 'infer', 'tools.ts', '--connector', 'mail']),
    ];

    expect(api.out).toContain(
      '  listUsers: read # it is a GET\n  post_users: write # it is a POST\n  removeUser: delete # it is a DELETE\n',
    );
    expect(code.out).toMatch(/^connector: mail\n[\s\S]* {2}list_mail: read #.*\n {2}send_mail: write #/);
  });

  test('asks an MCP server, and does not believe a hint that its name contradicts', async () => {
    const tools = [
      { name: 'list_files', annotations: { readOnlyHint: true } },
      { name: 'delete_file', annotations: { readOnlyHint: true } },
      { name: 'tidy', annotations: { destructiveHint: true } },
    ];
    const server = createServer(async (request, response) => {
      let body = '';
      for await (const part of request) body += part;
      const { id, method } = JSON.parse(body);
      const result = method === 'initialize' ? { serverInfo: { name: 'files' } } : { tools };
      response.setHeader('content-type', 'text/event-stream');
      response.end(
        id === undefined ? '' : `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`,
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());

    const { out, code } = await newMachine().run([
      'manifest',
      'infer',
      `http://127.0.0.1:${Object(server.address()).port}/mcp`,
    ]);

    expect(code).toBe(0);
    expect(out).toMatch(/^connector: files\n/);
    expect(out).toContain(
      '  # review: the server says read-only, and "delete" says more\n  delete_file:\n    permission: delete\n    mcp_pins:\n',
    );
    expect(out).toContain('  # the server says that it only reads\n  list_files:\n    permission: read\n');
    expect(out).toContain('  # the server says that it destroys\n  tidy:\n    permission: delete\n');
  });

  test('keeps what a manifest says, overwrites nothing, and ends with 1 where there is nothing', async () => {
    const { run, folder } = machineWith({
      'tools.json': '["lookup", "transfer", "fetch_it"]',
      'crm.yaml': GOOD,
      'none.json': '[]',
    });

    const merged = await run(['manifest', 'infer', 'tools.json', '--merge', 'crm.yaml', '--out', 'new.yaml']);

    const { tools } = manifestFromYamlText(readFileSync(join(folder, 'new.yaml')));
    expect(merged.code).toBe(0);
    expect(Object.fromEntries(tools)).toEqual({
      lookup: { permission: 'read' },
      transfer: { permission: 'write', caps: { per_day: 10 } },
      fetch_it: { permission: 'read' },
    });
    expect((await run(['manifest', 'infer', 'tools.json', '--out', 'new.yaml'])).code).toBe(2);
    expect((await run(['manifest', 'infer', 'none.json'])).code).toBe(1);
    expect((await run(['manifest', 'infer', 'none.json', '--from', 'openapi'])).code).toBe(1);
  });
});

describe('manifest plan and diff', () => {
  const after =
    'connector: crm\nversion: 2.0.0\ntools:\n  lookup: write\n  export: read\n  transfer:\n    permission: write\n    caps:\n      per_day: 20\n    requires_decision: true\n';

  test('say who gains and who loses, and fail where that is asked for', async () => {
    const { run } = machineWith({ 'old.yaml': GOOD, 'new.yaml': after });

    const plan = await run(['manifest', 'plan', 'old.yaml', 'new.yaml', '--fail-on', 'looser']);
    const same = await run(['manifest', 'plan', 'old.yaml', 'old.yaml', '--fail-on', 'any']);
    const diff = await run(['manifest', 'diff', 'old.yaml', 'new.yaml', '--format', 'json']);
    const yaml = await run(['manifest', 'diff', 'old.yaml', 'new.yaml', '--format', 'yaml']);
    expect(parse(yaml.out)).toEqual(JSON.parse(diff.out));

    expect(plan.code).toBe(1);
    expect(plan.out).toBe(
      [
        'looser   export  added, with permission read',
        'tighter  lookup  permission raised from read to write',
        'looser   transfer  the caps change from {"per_day":10} to {"per_day":20}',
        'tighter  transfer  a person has to decide about each call\n',
      ].join('\n'),
    );
    expect(same).toEqual({ code: 0, out: '', err: 'Nothing changes.\n' });
    expect(JSON.parse(diff.out)[1]).toEqual({
      ...{ tool: 'lookup', member: 'permission', effect: 'tighter', before: 'read', after: 'write' },
      words: 'permission raised from read to write',
    });
  });

  test('compare one file with its last commit', async () => {
    const { run, folder } = machineWith({ 'crm.yaml': GOOD });
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t.test', ...args], {
        cwd: folder,
        stdio: 'ignore',
      });
    const without = await run(['manifest', 'plan', 'crm.yaml'], {});
    git('init');
    git('add', '.');
    git('commit', '-m', 'one');
    writeFileSync(join(folder, 'crm.yaml'), after);

    expect(without.code).toBe(2);
    expect((await run(['manifest', 'plan', 'crm.yaml'])).out).toContain('tighter  lookup');
  });
});

describe('manifest test', () => {
  const cases = `manifests: crm.yaml
cases:
  - {name: reads, scopes: ['tool:crm:read'], connector: crm, tool: lookup, expect: allow}
  - {name: writes, scopes: ['tool:crm:read'], connector: crm, tool: transfer, expect: permission_insufficient}
  - {name: unknown, scopes: ['tool:crm:admin'], connector: crm, tool: nothing, expect: manifest_unknown_tool/unknown_tool}
`;

  test('runs a table of calls, and ends with 1 where the answer is another', async () => {
    const { run } = machineWith({
      'crm.yaml': GOOD,
      'crm.cases.yaml': cases,
      'wrong.cases.yaml': cases.replace('expect: allow', 'expect: token_invalid'),
      'odd.cases.yaml': cases.replace('name: reads', 'nmae: reads'),
    });

    expect(await run(['manifest', 'test', 'crm.cases.yaml', '--json'])).toMatchObject({ code: 0 });
    const wrong = await run(['manifest', 'test', 'wrong.cases.yaml', '--json']);
    expect(wrong.code).toBe(1);
    expect(JSON.parse(wrong.out)[0]).toMatchObject({
      case: 'reads',
      result: 'fail',
      expected: 'token_invalid',
      got: 'allow',
    });
    expect((await run(['manifest', 'test', 'odd.cases.yaml'])).code).toBe(2);
  });

  test('takes purposes, which a tool may demand', async () => {
    const call = 'connector: crm, tool: lookup';
    const { run } = machineWith({
      'crm.yaml':
        'connector: crm\ntools:\n  lookup:\n    permission: read\n    allowed_purposes: [payments.payout]\n',
      'p.cases.yaml': `manifests: crm.yaml\ncases:\n  - {scopes: ['tool:crm:read'], ${call}, purpose: payments.payout, expect: allow}\n  - {scopes: ['tool:crm:read'], ${call}, expect: purpose_not_allowed}\n`,
    });

    const { code, out } = await run(['manifest', 'test', 'p.cases.yaml']);

    expect({ code, out }).toMatchObject({ code: 0 });
  });
});

describe('manifest fmt, upgrade, validate, scopes, list and show', () => {
  test('keep the meaning of a manifest', async () => {
    const { run, folder } = machineWith({ 'm.yaml': 'tools: {b: write, a: read}\nconnector: x\n' });
    const text = () => readFileSync(join(folder, 'm.yaml'), 'utf8');

    expect(await run(['manifest', 'fmt', '--check', 'm.yaml'])).toMatchObject({ code: 1, out: 'm.yaml\n' });
    expect((await run(['manifest', 'fmt', 'm.yaml'])).code).toBe(0);
    expect(text()).toBe('connector: x\nversion: 1.0.0\ntools:\n  a: read\n  b: write\n');
    expect((await run(['manifest', 'fmt', '--check', 'm.yaml'])).code).toBe(0);
    expect((await run(['manifest', 'upgrade', 'm.yaml'])).code).toBe(0);
    expect(text()).toContain('  a:\n    permission: read\n');
    expect((await run(['manifest', 'check', 'm.yaml', '--strict'])).code).toBe(0);
  });

  test('say what agents need', async () => {
    const { run } = machineWith({ 'crm.yaml': GOOD });
    const validate = (tools: string) =>
      run(['manifest', 'validate', 'crm.yaml', '--connector', 'crm', '--agent-tools', tools]);

    expect((await validate('lookup,transfer')).code).toBe(0);
    expect((await validate('lookup,drop')).code).toBe(1);
    expect((await run(['manifest', 'scopes', 'crm.yaml', '--tools', 'lookup'])).out).toBe('tool:crm:read\n');
    expect((await run(['manifest', 'scopes', 'crm.yaml'])).out).toBe('tool:crm:write\n');
    expect((await run(['manifest', 'scopes', 'crm.yaml', '--tools', 'none'])).code).toBe(2);
  });

  test('bring manifests that have no fault', async () => {
    const { run } = newMachine();

    for (const { manifest } of READY) {
      const shown = await run(['manifest', 'show', manifest.connector]);
      expect(await run(['manifest', 'check', '--strict', '-'], { input: shown.out })).toMatchObject({
        code: 0,
      });
    }
    expect((await run(['manifest', 'list', '-o', 'json', '--category', 'code'])).out).toContain('"github"');
    expect((await run(['manifest', 'show', 'none'])).code).toBe(5);
    expect(existsSync(join(newMachine().folder, 'manifests'))).toBe(false);
  });
});
