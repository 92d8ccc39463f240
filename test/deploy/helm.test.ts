import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { isSecret } from '../../apps/server/src/config/setting.ts';
import { allSettings } from '../../apps/server/src/config.ts';
import { VERSION } from '../../packages/sdk/src/client/version.ts';
import { documentsOf, filesOf, ROOT, settingsOf, textOf } from './files.ts';
import { manifestProblems } from './kubernetes-check.ts';

const CHART = 'deploy/helm/behest';
const BASE = 'deploy/kubernetes/base';
const values = Object(documentsOf(`${CHART}/values.yaml`)[0]);
const told = 'deploy/helm is not rendered: there is no helm on the path. .ci/helm fetches one.\n';

describe('the values', () => {
  test('are in the table of the chart, with their defaults', () => {
    const page = textOf(`${CHART}/README.md`);
    const rows = leavesOf(values).map(([path, value]) => {
      const cells = [value].flat().map((each) => `\`${each}\``);
      return value === '' ? `| \`${path}\` | ` : `| \`${path}\` | ${cells.join(', ')} |`;
    });

    expect(rows.length).toBeGreaterThan(15);
    expect(rows.filter((row) => !page.includes(row))).toEqual([]);
  });

  test('are those of the Kubernetes files: the settings, the secrets and the version', () => {
    const { NODE_ENV, ...settings } = settingsOf(`${BASE}/behest.env`);
    const [container] = Object(documentsOf(`${BASE}/deployment.yaml`)[0]).spec.template.spec.containers;
    const secrets = Object.entries<string>(values.secrets.keys).map(([name, key]) => ({
      name: `${name}_FILE`,
      value: `/etc/behest/secrets/${key}`,
    }));

    expect(NODE_ENV).toBe('production');
    expect(values.settings).toEqual(settings);
    expect(Object.keys(values.settings).filter((name) => !(name in allSettings) || isSecret(name))).toEqual(
      [],
    );
    expect(secrets).toEqual(container.env);
    expect(documentsOf(`${CHART}/Chart.yaml`)[0]).toMatchObject({ version: VERSION, appVersion: VERSION });
  });
});

/** Lists every value that is not a map, but the settings and the secrets, which a user extends. */
function leavesOf(tree: object, path = ''): [string, unknown][] {
  return Object.entries(tree).flatMap(([name, value]) => {
    const own = path ? `${path}.${name}` : name;
    if (own === 'settings' || own === 'secrets.keys') return [];
    const isMap = typeof value === 'object' && !Array.isArray(value);
    return isMap ? leavesOf(value, own) : [[own, value] as [string, unknown]];
  });
}

const places = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'helm'));
const helm = [process.env.BEHEST_HELM ?? '', ...places].find(
  (program) => program !== '' && existsSync(program),
);

if (helm === undefined) process.stdout.write(told);
else {
  const run = (...flags: string[]) => {
    const { status, stdout, stderr } = spawnSync(helm, flags, { cwd: ROOT, encoding: 'utf8' });
    return { status, stdout, stderr };
  };
  const render = (...flags: string[]) => {
    const { stdout, stderr } = run('template', 'behest', CHART, '--kube-version', '1.30.0', ...flags);
    expect(stderr).toBe('');
    return parseAllDocuments(stdout, { strict: true }).map((document) => Object(document.toJS()));
  };
  const ofKind = (objects: readonly ReturnType<typeof Object>[], kind: string) =>
    objects.find((object) => object.kind === kind);

  describe('the chart', () => {
    test('has no fault that helm finds, and makes objects of the API', () => {
      expect(run('lint', '--strict', CHART)).toMatchObject({ status: 0, stderr: '' });
      expect(manifestProblems(render().map((object) => ({ path: object.kind, object })))).toEqual([]);
    });

    test('makes the objects of the Kubernetes files, with labels and a mark of the settings beside them', () => {
      const label = { 'app.kubernetes.io/name': 'behest' };
      const objects = render();
      const names = filesOf(`${BASE}/*.yaml`).filter((path) => !path.includes('kustomization'));
      for (const path of names) {
        const expected = Object(documentsOf(path)[0]);
        const made = ofKind(objects, expected.kind);
        const { labels, ...metadata } = made.metadata;
        if (expected.kind === 'Deployment') {
          expect(made.spec.template.metadata.annotations).toEqual({
            'checksum/settings': expect.stringMatching(/^[0-9a-f]{64}$/),
          });
          delete made.spec.template.metadata.annotations;
        }
        expect(labels).toEqual(label);
        expect({ ...made, metadata }, path).toEqual(expected);
      }
      expect(ofKind(objects, 'ConfigMap').data).toEqual(settingsOf(`${BASE}/behest.env`));
      expect(objects).toHaveLength(names.length + 1);
    });

    test('makes the ingress of the example when it is wanted, and no network policy when that is not', () => {
      const objects = render('--set', 'ingress.enabled=true,networkPolicy.enabled=false');
      const { metadata, ...ingress } = ofKind(objects, 'Ingress');

      expect({ ...ingress, metadata: { name: metadata.name } }).toEqual(
        documentsOf('deploy/kubernetes/examples/ingress.yaml')[0],
      );
      expect(ofKind(objects, 'NetworkPolicy')).toBeUndefined();
    });

    test('rolls out a changed setting, and takes an image by its digest', () => {
      const marked = (flags: string) => {
        const { template } = ofKind(render('--set', flags), 'Deployment').spec;
        const [{ image }] = template.spec.containers;
        return { mark: template.metadata.annotations['checksum/settings'], image };
      };
      const digest = `sha256:${'a'.repeat(64)}`;
      const [info, warn] = [
        marked('settings.LOG_LEVEL=info'),
        marked(`settings.LOG_LEVEL=warn,image.digest=${digest}`),
      ];

      expect(info.mark).not.toBe(warn.mark);
      expect([info.image, warn.image]).toEqual([`behest:${VERSION}`, `behest@${digest}`]);
    });
  });
}
