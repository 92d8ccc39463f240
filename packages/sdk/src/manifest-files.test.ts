import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { DEVELOPER } from '../test/issuer.ts';
import { Behest } from './behest.ts';

function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'behest-manifests-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

const client = () =>
  new Behest({ apiKey: null, baseUrl: 'https://auth.example.com', developerId: DEVELOPER });
const json = (connector: string) => JSON.stringify({ connector, tools: { lookup: { permission: 'read' } } });

test('the manifests of a folder are loaded, whatever else is there', async () => {
  const folder = folderOf({
    'crm.json': json('crm'),
    'mail.yaml': 'connector: mail\ntools:\n  send: { permission: write }\n',
    'pay.yml': '\uFEFFconnector: pay\ntools: { transfer: write }\n',
    'files.tools.json': json('files'),
    'crm.json.tools.json': '{"format":"behest.tool-definitions/1","connector":"crm","tools":{}}',
    'notes.txt': '{',
    'crm.json~': '{',
  });
  mkdirSync(join(folder, 'more'));
  writeFileSync(join(folder, 'more', 'deep.json'), json('deep'));
  const behest = client();

  const loaded = await behest.loadManifestsFromDir(folder);

  expect(loaded.map(({ connector }) => connector)).toEqual(['crm', 'files', 'mail', 'pay']);
  expect(behest.manifest('mail')?.tools.get('send')?.permission).toBe('write');
  expect(behest.manifest('pay')?.tools.get('transfer')?.permission).toBe('write');
  expect(behest.manifest('deep')).toBeUndefined();
});

test.each<[string, Record<string, string>, object]>([
  [
    'a key that JSON repeats',
    { 'b.json': '{"connector":"b","tools":{"t":"read","t":"admin"}}' },
    { name: 'ManifestValidationError', code: 'duplicate_key', path: 'tools.t' },
  ],
  [
    'a key that YAML repeats in another style',
    { 'b.yaml': 'connector: b\ntools:\n  t: read\n  "t": admin\n' },
    { name: 'ManifestValidationError', code: 'duplicate_key', path: 'tools.t' },
  ],
  ['a text that is not JSON', { 'b.json': 'connector: b' }, { code: 'unparseable', path: '' }],
  ['an empty file', { 'b.json': '' }, { code: 'unparseable', path: '' }],
  ['definitions that are none', { 'b.tools.json': '{"format":"other"}' }, { code: 'missing_key' }],
  [
    'one connector in two files',
    { 'b.yaml': 'connector: a\ntools: { t: admin }\n' },
    { name: 'BehestError', message: 'a.json and b.yaml are both about a.' },
  ],
])('a folder with %s loads nothing', async (_, files, fault) => {
  const behest = client();
  const folder = folderOf({ 'a.json': json('a'), ...files });

  await expect(behest.loadManifestsFromDir(folder)).rejects.toThrow(expect.objectContaining(fault));
  await expect(behest.loadManifestsFromDir(folder)).rejects.toThrow(Object.keys(files)[0]);
  expect(behest.manifest('a')).toBeUndefined();
});

test('a folder that is not there, and a runtime without files, are said so', async () => {
  const behest = client();

  await expect(behest.loadManifestsFromDir('/nowhere')).rejects.toThrow(
    'The manifests in /nowhere cannot be read.',
  );
  vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined);
  onTestFinished(() => void vi.restoreAllMocks());
  await expect(behest.loadManifestsFromDir(folderOf({}))).rejects.toThrow('needs a runtime with files');
});
